"""The text of docs/planted.md, which planted_judges.py fills."""

PAGE = """# Planted judges

Does Judgescope find a defect that is known to be there, and does it find one where
there is none? A planted judge is simulated: it rates as one more rater does and then
has one defect. `make planted` writes this page from {studies} simulated studies per
strength (60 sources with texts of 6 systems, 3 raters, 2 aspects, unless stated
otherwise); the code of a run computes the claims in memory. Your own study can have
planted judges, too ([guide](guide/planted.md)).

## Found

The bar is 95 % of studies at the strength in bold ({least} of {studies} do not refute
it). A defect counts as found only if it is named by its own name and no other, with
two exceptions: a preference for a length is common to all aspects, so it may also be
named halo; the scale cuts off noise at its ends, so the scores of a noisy judge are
nearer the middle than people's, and short texts or a family of weaker systems may seem
to be preferred.

{found}

No number shows these defects yet: {later}.

## In vain

A judge without a defect is tested for the defects of a line at once (Holm's
correction, level .05). At most {most} of {alarms} studies may alarm.

{in_vain}

## The threshold of a judge's confidence

From the threshold on, more than {allowed:.0%} of the verdicts should be wrong in at
most 5 % of draws (300 verdicts on 150 sources, true chances, verdicts of one source
alike): in {broken} of {draws}. A threshold was found in {thresholds} of them.

## The winner's curse

What the best of several judges seems to add on the texts that chose it is partly luck.
Of six equal judges the winner looks better than it is by .079 on 80 texts of 20 sources
and by .044 on 320 texts; chosen on some sources and valued on others, as *What to buy*
does, it is off by -.017 and -.003. *Adds* is said in .008 of 1,000 studies in which
nothing adds (`python benchmarks/buying.py`; [what to buy](methods.md#what-to-buy)).

## Positive controls

A copy of people's mean should be better than chance, and as good as one more rater,
in every setting: {settings} settings of 2 to 12 systems, 1 to 12 aspects, scores,
labels or pairs, and 1, 2, 5 or mixed numbers of texts a source (40 sources, 3
raters). It is better than chance in {better} of {settings} and as good as one more
rater in {as_rater}.

{failing}

One more rater ({rated} studies each, one aspect) should be better than chance in at
least 95 % of studies of scores and labels, and worse than a rater in at most 2.5 %.
Pairs and the last column have no bar.

{raters}
"""
"""The text of docs/planted.md."""
