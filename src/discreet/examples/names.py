"""The names on the voter roll and of its streets. Nothing else here."""

from __future__ import annotations

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
