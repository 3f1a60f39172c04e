"""Every number that the made-up town is made of, and its names; docs/town.md explains them. Nothing else here."""

from __future__ import annotations

import datetime as dt

REFERENCE_DAY = dt.date(2024, 12, 31)
"""Ages are completed years on this day, so age = 2024 - year of birth."""

REGION_WEIGHTS: dict[str, int] = {
    "Aldbrook": 310, "Ashmere": 120, "Bexmoor": 230, "Birchford": 95, "Brackenhill": 60,
    "Calderwick": 180, "Cobley": 45, "Coldstow": 38, "Dunmarsh": 150, "Dellingham": 270,
    "Eastlea": 105, "Elmscote": 70, "Everdale": 88, "Fallowby": 52, "Fenwarden": 34,
    "Foxcombe": 140, "Garthwell": 76, "Glenbury": 200, "Greystoke": 64, "Hallowfield": 350,
    "Harrowdean": 98, "Hazelton": 165, "Ivybridge": 82, "Kestrel Bay": 110, "Kingsmead": 420,
    "Larkhurst": 57, "Linden Vale": 130, "Longmere": 74, "Marlow Cross": 190, "Millstead": 240,
    "Netherby": 48, "Northgate": 380, "Oakhanger": 90, "Orchard End": 41, "Penrose": 68,
    "Pinemoor": 55, "Quarrington": 30, "Ravensholt": 125, "Redcliffe": 210, "Rushbrooke": 62,
    "Saltmarsh": 85, "Sedgewick": 115, "Stonebeck": 160, "Thornley": 100, "Upper Wick": 36,
    "Wadebourne": 145, "Westering": 260, "Willowby": 78, "Wraxford": 50, "Yarrowdale": 66,
}  # fmt: skip

COUNTIES: tuple[str, ...] = (
    "Aldershire", "Brockland", "Dunmere", "Eastmarch", "Highfold", "Kingsriding", "Lowvale",
    "Westmarch",
)  # fmt: skip
"""Region number i (in the order above) lies in county number i modulo 8: a level above regions."""

ZIP_PEOPLE = 12_000
"""About how many people share a ZIP code: the size at which the published uniqueness holds."""
ZIP_MOST = 500
ZIP_FIRST = 20_100

AGE_BAND_WEIGHTS: tuple[int, ...] = (
    540, 580, 600, 590, 620, 660, 690, 680, 650, 610, 660, 680, 620, 530, 480, 430, 280, 180, 85,
    30, 5,
)  # fmt: skip
"""Bands of five years from 0-4 to 100-104; inside a band every year weighs the same."""

FEMALE_SHARE_FROM_AGE: dict[int, float] = {0: 0.487, 20: 0.495, 50: 0.507, 70: 0.53, 80: 0.59, 90: 0.70}  # fmt: skip

EDUCATIONS: tuple[str, ...] = (
    "Primary", "Secondary", "Vocational", "Bachelor", "Master", "Doctorate",
)  # fmt: skip
EDUCATION_SHARES_FROM_AGE: dict[int, tuple[float, ...]] = {
    0: (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    12: (0.20, 0.80, 0.0, 0.0, 0.0, 0.0),
    18: (0.05, 0.62, 0.22, 0.11, 0.0, 0.0),
    25: (0.05, 0.28, 0.27, 0.26, 0.12, 0.02),
    50: (0.10, 0.34, 0.29, 0.18, 0.07, 0.02),
    70: (0.24, 0.38, 0.23, 0.10, 0.04, 0.01),
}

OUTSIDE_WORK: tuple[str, ...] = ("Child", "Pupil", "Student", "Retired", "Homemaker", "Unemployed")
OCCUPATIONS: tuple[str, ...] = (
    "Farmer", "Builder", "Factory worker", "Driver", "Cleaner", "Cook", "Shop assistant", "Carer",
    "Clerk", "Technician", "Nurse", "Teacher", "Engineer", "Manager", "Lawyer", "Doctor",
    "Researcher",
)  # fmt: skip
OUTSIDE_WORK_SHARES_FROM_AGE: dict[int, tuple[float, ...]] = {
    0: (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    5: (0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    16: (0.0, 0.70, 0.10, 0.0, 0.0, 0.05),
    18: (0.0, 0.0, 0.42, 0.0, 0.02, 0.07),
    25: (0.0, 0.0, 0.04, 0.01, 0.08, 0.05),
    60: (0.0, 0.0, 0.0, 0.35, 0.07, 0.03),
    67: (0.0, 0.0, 0.0, 0.90, 0.03, 0.0),
    80: (0.0, 0.0, 0.0, 0.99, 0.0, 0.0),
}
"""Shares of OUTSIDE_WORK; whoever is left works."""
OCCUPATION_WEIGHTS: dict[str, tuple[int, ...]] = {
    "Primary": (10, 16, 20, 12, 18, 8, 12, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0),
    "Secondary": (5, 11, 14, 10, 7, 7, 17, 9, 14, 3, 0, 0, 0, 3, 0, 0, 0),
    "Vocational": (4, 12, 10, 6, 2, 6, 8, 12, 13, 16, 7, 0, 0, 4, 0, 0, 0),
    "Bachelor": (1, 1, 1, 1, 1, 1, 5, 4, 16, 9, 14, 16, 14, 16, 0, 0, 0),
    "Master": (1, 0, 0, 0, 0, 0, 1, 1, 7, 5, 3, 20, 19, 22, 12, 7, 2),
    "Doctorate": (0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 12, 12, 12, 3, 33, 25),
}

INCOME_MEDIANS: dict[str, int] = {
    "Child": 0, "Pupil": 0, "Student": 6_000, "Retired": 19_000, "Homemaker": 3_000,
    "Unemployed": 7_500, "Farmer": 26_000, "Builder": 31_000, "Factory worker": 28_000,
    "Driver": 29_000, "Cleaner": 17_000, "Cook": 22_000, "Shop assistant": 20_000, "Carer": 21_000,
    "Clerk": 27_000, "Technician": 34_000, "Nurse": 36_000, "Teacher": 39_000, "Engineer": 52_000,
    "Manager": 61_000, "Lawyer": 74_000, "Doctor": 92_000, "Researcher": 48_000,
}  # fmt: skip
"""The median income of a man of INCOME_PEAK_AGE with that job, in whole units."""
INCOME_PEAK_AGE = 50
INCOME_AGE_BEND = -0.0006
"""Log income of people who work changes by this times the squared distance from the peak age."""
INCOME_FEMALE_LOG = -0.11
"""Log income of women who work is lower by this, for the same job and age."""
INCOME_LOG_SPREAD = 0.55
INCOME_UPPER = 500_000

MARRIED_SHARES_FROM_AGE: dict[int, float] = {0: 0.0, 18: 0.05, 25: 0.34, 35: 0.60, 50: 0.66, 70: 0.60, 80: 0.38}  # fmt: skip
HOUSEHOLD_SHARES: dict[str, tuple[float, ...]] = {
    "minor": (0.0, 0.08, 0.25, 0.38, 0.19, 0.07, 0.02, 0.01),
    "single": (0.46, 0.26, 0.15, 0.08, 0.03, 0.01, 0.006, 0.004),
    "married": (0.0, 0.44, 0.21, 0.22, 0.09, 0.03, 0.007, 0.003),
}
"""Shares of households of 1 to 8 people, for minors and for adults by marriage."""
SMOKER_SHARES_FROM_AGE: dict[int, tuple[float, float]] = {
    0: (0.0, 0.0), 16: (0.10, 0.12), 25: (0.17, 0.22), 45: (0.16, 0.20), 65: (0.09, 0.12), 80: (0.04, 0.06),
}  # fmt: skip
"""Shares of smokers among women and men."""

HEIGHT_AT_AGE: dict[int, tuple[float, float]] = {
    0: (62.0, 64.0), 2: (86.0, 87.0), 6: (115.0, 116.0), 10: (138.0, 138.0), 13: (157.0, 156.0),
    16: (163.0, 173.0), 19: (164.0, 177.5), 45: (164.0, 177.5), 70: (161.0, 174.5), 104: (155.0, 168.0),
}  # fmt: skip
"""Mean height in centimetres of women and men, joined by straight lines."""
HEIGHT_SPREAD = 6.5

EDUCATION_MISSING = 0.03
INCOME_MISSING = 0.06

VISIT_FIRST_DAY = dt.date(2020, 1, 1)
VISIT_LAST_DAY = dt.date(2024, 12, 31)
VISIT_MEANS_FROM_AGE: dict[int, float] = {0: 2.4, 5: 1.1, 18: 1.8, 40: 2.9, 65: 5.8, 80: 8.5}
"""Mean number of hospital visits in the five years; the same for smokers and for others."""
VISIT_SHAPE = 0.7
"""Visits are Poisson with a gamma rate of this shape: the smaller, the heavier the tail."""
VISITS_MOST = 400
VISIT_WEEKEND_WEIGHT = 0.55

WARDS: tuple[str, ...] = (
    "Emergency", "General medicine", "Surgery", "Cardiology", "Respiratory", "Oncology",
    "Maternity", "Paediatrics", "Psychiatry", "Neurology",
)  # fmt: skip
WARD_OTHER_SHARE = 0.15
"""This share of visits is halved between Emergency and General medicine, whatever the diagnosis.

Children under 18 who would go to General medicine go to Paediatrics.
"""

DIAGNOSES: dict[str, tuple[tuple[int, int, int, int, int, int], float, float, str, float, int]] = {
    # weights for ages from 0, 5, 18, 40, 65, 80; factors for women and men; ward; days; cost a day
    "A09 Gastroenteritis": ((90, 40, 25, 15, 12, 12), 1.0, 1.0, "General medicine", 1.2, 310),
    "A41 Sepsis": ((6, 2, 3, 8, 18, 30), 0.9, 1.1, "General medicine", 7.0, 620),
    "B34 Viral infection": ((110, 60, 20, 10, 8, 8), 1.0, 1.0, "General medicine", 0.8, 240),
    "C34 Lung cancer": ((0, 0, 1, 8, 18, 10), 0.9, 1.1, "Oncology", 5.0, 910),
    "C50 Breast cancer": ((0, 0, 3, 16, 18, 12), 2.0, 0.02, "Oncology", 2.5, 840),
    "C61 Prostate cancer": ((0, 0, 0, 8, 26, 18), 0.0, 2.0, "Oncology", 2.2, 800),
    "D50 Anaemia": ((6, 6, 12, 12, 18, 26), 1.4, 0.6, "General medicine", 1.0, 280),
    "E11 Type 2 diabetes": ((0, 1, 8, 40, 55, 42), 0.9, 1.1, "General medicine", 1.8, 330),
    "F10 Alcohol dependence": ((0, 2, 18, 24, 8, 2), 0.5, 1.5, "Psychiatry", 4.5, 290),
    "F32 Depression": ((0, 16, 48, 36, 16, 10), 1.3, 0.7, "Psychiatry", 6.0, 270),
    "F41 Anxiety": ((0, 18, 42, 26, 10, 6), 1.3, 0.7, "Psychiatry", 0.6, 210),
    "G40 Epilepsy": ((12, 14, 10, 8, 8, 8), 0.9, 1.1, "Neurology", 1.6, 430),
    "G43 Migraine": ((0, 10, 26, 20, 4, 2), 1.5, 0.5, "Neurology", 0.3, 260),
    "H66 Middle ear infection": ((80, 34, 6, 3, 2, 2), 1.0, 1.0, "General medicine", 0.2, 180),
    "I10 High blood pressure": ((0, 0, 10, 44, 60, 52), 1.0, 1.0, "Cardiology", 0.5, 250),
    "I21 Heart attack": ((0, 0, 3, 22, 40, 44), 0.7, 1.3, "Cardiology", 5.0, 1_250),
    "I48 Atrial fibrillation": ((0, 0, 2, 12, 40, 56), 0.9, 1.1, "Cardiology", 1.6, 540),
    "I63 Stroke": ((0, 0, 2, 12, 32, 48), 0.9, 1.1, "Neurology", 9.0, 780),
    "J18 Pneumonia": ((34, 10, 8, 14, 36, 62), 0.9, 1.1, "Respiratory", 5.5, 480),
    "J44 Chronic lung disease": ((0, 0, 3, 16, 34, 26), 1.0, 1.0, "Respiratory", 3.8, 450),
    "J45 Asthma": ((30, 40, 18, 12, 8, 6), 1.1, 0.9, "Respiratory", 0.9, 290),
    "K35 Appendicitis": ((6, 34, 22, 9, 4, 3), 0.9, 1.1, "Surgery", 2.4, 1_100),
    "K80 Gallstones": ((0, 2, 16, 24, 22, 16), 1.4, 0.6, "Surgery", 2.0, 1_050),
    "L20 Eczema": ((50, 22, 10, 6, 4, 4), 1.0, 1.0, "General medicine", 0.1, 150),
    "M16 Hip arthritis": ((0, 0, 2, 18, 46, 40), 1.2, 0.8, "Surgery", 4.0, 1_300),
    "M54 Back pain": ((0, 6, 38, 50, 30, 18), 1.0, 1.0, "General medicine", 0.4, 220),
    "N39 Urinary infection": ((14, 10, 22, 16, 30, 48), 1.6, 0.4, "General medicine", 2.2, 320),
    "O80 Childbirth": ((0, 2, 120, 3, 0, 0), 2.0, 0.0, "Maternity", 2.1, 720),
    "S52 Broken arm": ((22, 60, 20, 14, 16, 18), 0.9, 1.1, "Emergency", 0.6, 560),
    "S72 Broken hip": ((1, 2, 3, 6, 22, 70), 1.3, 0.7, "Surgery", 10.0, 890),
}
SMOKING_RELATIVE_RISKS: dict[str, float] = {
    "J44 Chronic lung disease": 3.0, "C34 Lung cancer": 5.0, "I21 Heart attack": 1.6,
}  # fmt: skip
"""Among people of the same age band and sex, how many times likelier a smoker's visit is for this."""
DAYS_MOST = 90
COST_LOG_SPREAD = 0.45
COST_UPPER = 100_000

VOTER_AGE = 18
VOTER_SHARE = 0.72
VOTER_OLD_ZIP_SHARE = 0.02
"""This share of the voter roll carries the ZIP code of an earlier home (a random one)."""

FILMS = 10_000
FILM_POPULARITY_OFFSET = 50
FILM_POPULARITY_POWER = 1.0
"""The film of popularity rank r (from 1) is drawn in proportion to 1 / (offset + r) ** power."""
RATINGS_A_USER = 200
RATINGS_LOG_SPREAD = 0.9
"""How much some people rate more than others: standard deviation of the log of their activity."""
RATINGS_A_SESSION = 12
RATING_FIRST_DAY = dt.date(2019, 1, 1)
RATING_LAST_DAY = dt.date(2024, 12, 31)
RATING_MEAN = 3.6
RATING_FILM_SPREAD = 0.45
RATING_USER_SPREAD = 0.35
RATING_TASTES = 4
RATING_TASTE_SPREAD = 0.30
RATING_NOISE = 0.70

ALLELE_LOWEST = 0.05
ALLELE_HIGHEST = 0.50

DOSING_AGE_MEAN, DOSING_AGE_SPREAD = 65.0, 14.0
DOSING_AGE_LOWER, DOSING_AGE_UPPER = 18, 99
DOSING_MALE_SHARE = 0.58
DOSING_HEIGHT: tuple[float, float] = (162.0, 175.0)
DOSING_HEIGHT_SPREAD = 6.8
DOSING_HEIGHT_LOWER, DOSING_HEIGHT_UPPER = 130, 215
DOSING_BODY_MASS_MEDIAN = 26.5
DOSING_BODY_MASS_LOG_SPREAD = 0.19
DOSING_WEIGHT_LOWER, DOSING_WEIGHT_UPPER = 35.0, 240.0
RACE_SHARES: dict[str, float] = {"White": 0.58, "Asian": 0.24, "Black": 0.13, "Other": 0.05}
VKORC1: tuple[str, ...] = ("G/G", "A/G", "A/A")
VKORC1_A_FREQUENCIES: dict[str, float] = {
    "White": 0.39,
    "Asian": 0.88,
    "Black": 0.11,
    "Other": 0.45,
}
CYP2C9_ALLELES: tuple[str, ...] = ("*1", "*2", "*3")
CYP2C9_FREQUENCIES: dict[str, tuple[float, float, float]] = {
    "White": (0.80, 0.13, 0.07), "Asian": (0.96, 0.005, 0.035), "Black": (0.94, 0.04, 0.02),
    "Other": (0.86, 0.09, 0.05),
}  # fmt: skip
DOSE_INTERCEPT = 5.90
DOSE_AGE_DECADE = -0.27
DOSE_HEIGHT_CM = 0.009
DOSE_WEIGHT_KG = 0.0125
DOSE_VKORC1: dict[str, float] = {"G/G": 0.0, "A/G": -0.90, "A/A": -1.75}
DOSE_CYP2C9: dict[str, float] = {
    "*1/*1": 0.0, "*1/*2": -0.55, "*1/*3": -0.95, "*2/*2": -1.10, "*2/*3": -1.90, "*3/*3": -2.35,
}  # fmt: skip
DOSE_RACE: dict[str, float] = {"White": 0.0, "Asian": -0.12, "Black": -0.25, "Other": -0.10}
DOSE_INDUCER = 1.15
DOSE_AMIODARONE = -0.58
INDUCER_SHARE = 0.02
AMIODARONE_SHARE = 0.06
DOSE_SPREAD = 0.80
"""The square root of the weekly dose in milligrams is linear in all of the above, plus this noise."""
DOSE_LOWER = 2.0
DOSE_UPPER = 150.0


WOMEN: tuple[str, ...] = (
    "Ada", "Agnes", "Alice", "Amelia", "Anna", "Beatrice", "Bella", "Bridget", "Camilla",
    "Carol", "Cecily", "Celia", "Charlotte", "Clara", "Cora", "Daisy", "Daphne", "Dora",
    "Edith", "Eleanor", "Eliza", "Ella", "Emily", "Emma", "Esther", "Eva", "Faith", "Flora",
    "Frances", "Freya", "Georgia", "Grace", "Greta", "Hannah", "Harriet", "Hazel", "Helen",
    "Holly", "Ida", "Imogen", "Iris", "Isabel", "Ivy", "Jane", "Joan", "Josephine", "Julia",
    "Kate", "Laura", "Leah", "Lily", "Louisa", "Lucy", "Mabel", "Margaret", "Maria", "Martha",
    "Mary", "Matilda", "Maud", "Mia", "Molly", "Nell", "Nora", "Olive", "Olivia", "Pearl",
    "Phoebe", "Polly", "Rachel", "Rosa", "Rose", "Ruby", "Ruth", "Sarah", "Sophia", "Stella",
    "Susan", "Sylvia", "Tess", "Thea", "Ursula", "Vera", "Violet", "Willa", "Winifred", "Zara",
)  # fmt: skip
MEN: tuple[str, ...] = (
    "Adam", "Alan", "Albert", "Alfred", "Amos", "Andrew", "Archie", "Arthur", "Barnaby",
    "Basil", "Ben", "Bernard", "Caleb", "Cecil", "Charles", "Clement", "Colin", "Cyril",
    "Daniel", "David", "Dominic", "Duncan", "Edgar", "Edmund", "Edward", "Edwin", "Eli", "Eric",
    "Ernest", "Felix", "Francis", "Frank", "Fred", "Gabriel", "George", "Gilbert", "Giles",
    "Gordon", "Graham", "Guy", "Harold", "Harry", "Henry", "Herbert", "Hugh", "Isaac", "Jack",
    "Jacob", "James", "Jasper", "John", "Jonah", "Joseph", "Jude", "Julian", "Kit", "Laurence",
    "Leo", "Leonard", "Lewis", "Luke", "Mark", "Martin", "Matthew", "Miles", "Nathan", "Ned",
    "Noah", "Oliver", "Oscar", "Owen", "Patrick", "Paul", "Percy", "Peter", "Philip", "Ralph",
    "Raymond", "Reuben", "Robert", "Rowan", "Rupert", "Samuel", "Sidney", "Simon", "Stanley",
    "Theo", "Thomas", "Toby", "Victor", "Walter", "Wilfred", "William",
)  # fmt: skip
SURNAMES: tuple[str, ...] = tuple(
    f"{start}{end}"
    for start in (
        "Alder", "Ash", "Barrow", "Birch", "Black", "Brack", "Brook", "Calder", "Clay", "Crow",
        "Dun", "Elm", "Fair", "Fen", "Fox", "Garth", "Hal", "Hart", "Hazel", "Holt", "Lang", "Lark",
        "Marsh", "Mer", "Mill", "Nether", "Oak", "Pen", "Raven", "Red", "Sedge", "Stan", "Thorn",
        "Wad", "West", "Whit", "Wild", "Win", "Wood", "Yarrow",
    )
    for end in ("by", "combe", "cote", "den", "field", "ford", "ham", "ley", "ton", "well")
)  # fmt: skip
STREETS: tuple[str, ...] = tuple(
    f"{name} {kind}"
    for name in (
        "Abbey", "Beech", "Bridge", "Castle", "Chapel", "Church", "Cross", "Dove", "Fern", "Forge",
        "Garden", "Granary", "Hill", "Kiln", "Lime", "Manor", "Market", "Meadow", "Mill", "Orchard",
        "Park", "Priory", "Quarry", "River", "School", "Smithy", "Spring", "Station", "Vine", "Well",
    )
    for kind in ("Close", "Lane", "Road", "Street")
)  # fmt: skip
