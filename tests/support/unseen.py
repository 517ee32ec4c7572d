"""Short texts with a change each, written after the checks: how far those carry."""

UNSEEN = [
    (
        "repetition",
        "The library lends tools to anyone who lives nearby. Members pay nothing.",
        "The library lends tools, lending them to anyone who lives nearby. Members pay "
        "nothing.",
    ),
    (
        "repetition",
        "Anna will phone her doctor tomorrow to change the date.",
        "Anna will phone her doctor tomorrow, she will phone him, to change the date.",
    ),
    (
        "repetition",
        "The museum reopened after two years of repairs.",
        "The museum reopened its doors and opened again after two years of repairs.",
    ),
    (
        "passive_voice",
        "The committee will publish its report in May. Few expect surprises.",
        "The report will be published by the committee in May. Few expect surprises.",
    ),
    (
        "passive_voice",
        "Lucy asked Mark to water her plants while she is abroad.",
        "Mark was asked by Lucy to water her plants while she is abroad.",
    ),
    (
        "passive_voice",
        "Ana Reyes sailed round the cape and a museum bought her boat in 1963.",
        "Ana Reyes sailed round the cape and her boat was bought by a museum in 1963.",
    ),
    (
        "inversion",
        "The fans waited outside the stadium in the rain.",
        "Outside the stadium in the rain waited the fans.",
    ),
    (
        "inversion",
        "Nobody can tell why the lamp went out.",
        "Why the lamp went out nobody can tell.",
    ),
    (
        "inversion",
        "If the bill had passed, rents would have fallen.",
        "Had the bill passed, rents would have fallen.",
    ),
    (
        "improper_connective",
        "Sales rose. The firm hired new staff.",
        "Sales rose. However, the firm hired new staff.",
    ),
    (
        "improper_connective",
        "He stayed at home because he was ill.",
        "He stayed at home although he was ill.",
    ),
    (
        "improper_connective",
        "The road is closed. Buses take another route.",
        "The road is closed. Buses, in contrast, take another route.",
    ),
    (
        "incorrect_verb_form",
        "She has written three books about whales.",
        "She has wrote three books about whales.",
    ),
    (
        "incorrect_verb_form",
        "They are planning to sell the house.",
        "They are plan to sell the house.",
    ),
    (
        "incorrect_verb_form",
        "The actress was born in Perth and lives in Rome.",
        "The actress was bear in Perth and lives in Rome.",
    ),
    (
        "uncommon_phrase",
        "The talks failed because nobody wanted to pay.",
        "The talks foundered because nobody wanted to pay.",
    ),
    (
        "uncommon_phrase",
        "Joe wants to talk about the trip before dinner.",
        "Joe wants to confabulate about the trip before dinner.",
    ),
    (
        "uncommon_phrase",
        "The hotel is cheap and close to the beach.",
        "The hotel is cheap and in close propinquity to the beach.",
    ),
    (
        "complex_sentence",
        "The law protects tenants and limits rents.",
        "What the law does is that it protects tenants and that it limits rents.",
    ),
    (
        "complex_sentence",
        "Jack is ill. He will stay at home.",
        "Jack, who is ill, will stay at home.",
    ),
    (
        "complex_sentence",
        "The tower is 60 metres tall and is in Ghent.",
        "The tower, the height of which is 60 metres, is one that is located in Ghent.",
    ),
    (
        "complex_sentence",
        "The match was cancelled. It rained.",
        "The match was cancelled because it rained.",
    ),
    (
        "abbreviation",
        "The airline will cut 300 jobs in Dublin because fuel is so dear. Unions "
        "protested.",
        "The airline will cut jobs. Unions protested.",
    ),
    (
        "abbreviation",
        "Rita wants to borrow Paul's red car on Friday to pick up her parents from the "
        "airport.",
        "Rita wants to borrow Paul's car.",
    ),
    (
        "abbreviation",
        "The Aurora is a steel roller coaster with three loops that opened in Lund in "
        "1999.",
        "The Aurora is a roller coaster in Lund.",
    ),
    (
        "hypernym",
        "The thief stole a Rolex from the shop window.",
        "The thief stole a watch from the shop window.",
    ),
    (
        "hypernym",
        "Ken bought tulips and daffodils for his mother.",
        "Ken bought flowers for his mother.",
    ),
    (
        "hypernym",
        "The surgeon operated on the boy for six hours.",
        "The doctor operated on the boy for six hours.",
    ),
    (
        "complement",
        "The company opened a shop in Ghent.",
        "The company, founded by two brothers, opened a shop in Ghent.",
    ),
    (
        "complement",
        "The senator resigned on Monday.",
        "The senator resigned on Monday, citing poor health.",
    ),
    (
        "continuation",
        "The senator resigned on Monday. Her deputy takes over.",
        "The senator resigned on Monday. Her deputy takes over. A new vote is planned "
        "for May.",
    ),
    (
        "continuation",
        "The bridge is closed.",
        "The bridge is closed. It had been in bad repair for years.",
    ),
    (
        "different_entity",
        "The Louvre received nine million visitors in 2018.",
        "The Prado received nine million visitors in 2018.",
    ),
    (
        "different_entity",
        "Tim will meet Sue at 5 pm on Friday.",
        "Tim will meet Sue at 7 pm on Friday.",
    ),
    (
        "different_entity",
        "Maria Santos coaches Benfica.",
        "Maria Santos coaches Real Madrid.",
    ),
    (
        "different_entity",
        "One in three adults sleeps badly.",
        "One in five adults sleeps badly.",
    ),
    (
        "conflicting_fact",
        "The vaccine was approved for all adults.",
        "The vaccine was rejected for all adults.",
    ),
    (
        "conflicting_fact",
        "Joan agreed to help Peter move on Sunday.",
        "Joan told Peter that she would be busy on Sunday.",
    ),
    (
        "conflicting_fact",
        "Exports grew faster than expected last year.",
        "Exports fell to their lowest level in decades last year.",
    ),
    (
        "negation",
        "The bill passed. It will change pensions.",
        "The bill passed. It will not change pensions.",
    ),
    (
        "negation",
        "Sam is late. He missed the bus.",
        "Sam is late. He didn't miss the bus.",
    ),
    (
        "negation",
        "Rents rose. Nothing was done about it.",
        "Rents rose. Something was done about it.",
    ),
    (
        "negation",
        "The roof leaks. A plumber will come today.",
        "The roof leaks. However, no plumber will come today.",
    ),
]
"""(kind of change, text before, text after)."""
