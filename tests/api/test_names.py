"""Names in a question: what people call a cloud leads to what we call it."""

import pytest

from api.names import Known

KNOWN = Known(("aws", "azure", "gcore", "gcp", "lambda"), (), (), (), ())


@pytest.mark.parametrize(
    ("text", "name"),
    [("amazon", "aws"), ("Google Cloud", "gcp"), ("google", "gcp"), ("Microsoft", "azure"), ("lambda-labs", "lambda")],
)
def test_a_company_leads_to_its_cloud(text, name):
    with pytest.raises(LookupError, match=f"did you mean {name}\\?$"):
        KNOWN.resolve("provider", text)


def test_a_company_whose_cloud_is_not_there_is_no_hint():
    with pytest.raises(LookupError) as told:
        KNOWN.resolve("provider", "datacrunch")
    assert "verda" not in str(told.value)
