import pytest

from fcompile.check.rules.framework.structure import UNKNOWN_FIELD
from fcompile.diagnostics.problem import RULES, Severity, rule


@pytest.mark.parametrize(("code", "name"), [(UNKNOWN_FIELD.code, "a-new-name"), ("FC100", UNKNOWN_FIELD.name)])
def test_a_code_and_a_name_stand_for_one_rule(code: str, name: str) -> None:
    before = dict(RULES)
    with pytest.raises(ValueError, match="declared twice"):
        rule(code=code, name=name, severity=Severity.ERROR, summary="", why="", remedy="")
    assert before == RULES
