"""What several tests of survey share."""

from typing import Any

from judgescope.plan import Plan, load_plan
from judgescope.schema.loading import load_yaml
from running import HOME

STUDY = HOME / "config" / "studies" / "discernment.yaml"


def plan_of(**keys: Any) -> Plan:
    return load_plan(load_yaml(STUDY)[0] | keys, HOME, source=str(STUDY))
