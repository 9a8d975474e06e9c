"""Names in a question: what people call a cloud leads to what we call it."""

import pytest

from api.questions.names import Known
from api.questions.suggestions import Guesses

KNOWN = Known(("aws", "azure", "gcore", "gcp", "lambda"), (), (), (), ())


@pytest.mark.parametrize(
    ("text", "name"),
    [("amazon", "aws"), ("Google Cloud", "gcp"), ("google", "gcp"), ("Microsoft", "azure"), ("lambda-labs", "lambda")],
)
def test_a_company_leads_to_its_cloud(text, name):
    with pytest.raises(LookupError, match=f"did you mean {name}\\?$"):
        KNOWN.resolve("provider", text, Guesses())


def test_a_company_whose_cloud_is_not_there_is_no_hint():
    with pytest.raises(LookupError) as told:
        KNOWN.resolve("provider", "datacrunch", Guesses())
    assert "verda" not in str(told.value)


@pytest.mark.parametrize(
    ("kind", "names"),
    [("CPU", "Xeon Platinum 8124M"), ("cpus", "Xeon Platinum 8124M"), ("gpu", "H100, A100-80GB or V100")],
)
def test_a_kind_of_accelerator_leads_to_names_that_are_answered(client, kind, names):
    told = client.get(f"/cost?model=resnet50&target=0.749&accelerator={kind}").json["errors"]["accelerator"]
    assert told == [f'unknown accelerator "{kind}": name the model itself, for example {names}']
    for name in names.replace(" or ", ", ").split(", "):
        asked = f"/cost?model=resnet50&target=0.749&limit=1&accelerator={name.replace(' ', '+')}"
        assert client.get(asked).json["count"] > 0


def test_only_accelerators_that_are_there_are_named():
    with pytest.raises(LookupError) as told:
        KNOWN.resolve("accelerator", "cpu", Guesses())
    assert "Xeon" not in str(told.value)
