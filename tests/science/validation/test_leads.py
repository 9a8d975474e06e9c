from science.validation.leads import answers, lines


def test_a_lead_is_told_with_how_it_is_known_and_whether_it_starts():
    lead, sums = lines(answers(["resnet50"]))
    assert lead.startswith("resnet50")
    assert lead.endswith(", starts")
    assert "; 1 start as printed; " in sums
