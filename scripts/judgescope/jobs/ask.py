"""Ask a model for a study's judgments of a dataset.

Read cards; plan the questions and their keys; look up what the store has; probe the
endpoint if a reply is missing; claim, ask, wait for other jobs and ask what they left
(`AskingJob.answered`); write.
"""

from pathlib import Path

from judgescope.replies import judging_job as steps
from judgescope.replies.asking import AskingJob
from judgescope.replies.budget import spending
from judgescope.replies.questions import plan_questions
from judgescope.replies.specs import AskSpec
from judgescope.replies.store import Store


def run(spec: AskSpec, *, card: str, store: str, budget: str, part: str = "") -> None:
    """Ask for all missing replies of the cells, or of a part such as `2-of-8`."""
    model = steps.read_model(spec, Path(card))
    with Store(Path(store), model.served_name) as shard:
        findings = steps.known_findings(shard, model)
        plan = plan_questions(spec, model, findings)
        replies = shard.find(plan.keys_of_part(part))
        with spending(budget, shard, model) as allowed:
            job = AskingJob.of(model, shard, allowed)
            if replies.lacking().any():
                findings = steps.new_findings(job, spec, model, findings)
                if findings is not None:
                    # A judge may now be asked as its fallback: its keys change.
                    plan = plan_questions(spec, model, findings)
                    replies = shard.find(plan.keys_of_part(part))
                steps.announce(spec, part, plan, shard)
            replies = job.answered(plan, replies)
        if part:
            steps.write_part(spec, part, replies)
        else:
            steps.write_replies(spec, plan, replies)
