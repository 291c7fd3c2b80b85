/* The word lists of the data set, the same in every program. */
#pragma once
static const char *const PB_FIRST[100] = {
    "James", "Maria", "Robert", "Linda", "Michael", "Susan", "William", "Karen", "David", "Nancy",
    "Richard", "Lisa", "Joseph", "Betty", "Thomas", "Sandra", "Charles", "Ashley", "Daniel", "Donna",
    "Matthew", "Emily", "Anthony", "Carol", "Steven", "Michelle", "Andrew", "Amanda", "Kenneth", "Melissa",
    "Joshua", "Deborah", "Kevin", "Stephanie", "Brian", "Rebecca", "George", "Laura", "Edward", "Helen",
    "Ronald", "Sharon", "Timothy", "Cynthia", "Jason", "Kathleen", "Jeffrey", "Shirley", "Gary", "Angela",
    "Nicholas", "Anna", "Eric", "Brenda", "Stephen", "Pamela", "Jonathan", "Nicole", "Larry", "Ruth",
    "Justin", "Katherine", "Scott", "Samantha", "Brandon", "Christine", "Benjamin", "Emma", "Samuel", "Catherine",
    "Gregory", "Virginia", "Frank", "Debra", "Raymond", "Rachel", "Patrick", "Janet", "Alexander", "Carolyn",
    "Jack", "Margaret", "Dennis", "Heather", "Jerry", "Diane", "Tyler", "Julie", "Aaron", "Joyce",
    "Henry", "Victoria", "Douglas", "Kelly", "Peter", "Christina", "Jose", "Lauren", "Adam", "Joan"};
static const char *const PB_LAST[100] = {
    "Smith", "Johnson", "Williams", "Brown", "Jones", "Garcia", "Miller", "Davis", "Rodriguez", "Martinez",
    "Hernandez", "Lopez", "Gonzalez", "Wilson", "Anderson", "Thomas", "Taylor", "Moore", "Jackson", "Martin",
    "Thompson", "White", "Harris", "Sanchez", "Clark", "Ramirez", "Lewis", "Robinson", "Walker", "Young",
    "Allen", "King", "Wright", "Scott", "Torres", "Nguyen", "Hill", "Flores", "Green", "Adams",
    "Nelson", "Baker", "Hall", "Rivera", "Campbell", "Mitchell", "Carter", "Roberts", "Gomez", "Phillips",
    "Evans", "Turner", "Diaz", "Parker", "Cruz", "Edwards", "Collins", "Reyes", "Stewart", "Morris",
    "Morales", "Murphy", "Cook", "Rogers", "Gutierrez", "Ortiz", "Morgan", "Cooper", "Peterson", "Bailey",
    "Reed", "Kelly", "Howard", "Ramos", "Kim", "Cox", "Ward", "Richardson", "Watson", "Brooks",
    "Chavez", "Wood", "James", "Bennett", "Gray", "Mendoza", "Ruiz", "Hughes", "Price", "Alvarez",
    "Castillo", "Sanders", "Patel", "Myers", "Long", "Ross", "Foster", "Jimenez", "Powell", "Jenkins"};
static const char *const PB_WORDS[100] = {
    "account", "active", "after", "again", "agenda", "annual", "answer", "arrives", "asked", "backup",
    "balance", "before", "below", "billing", "branch", "bridge", "budget", "called", "captain", "carbon",
    "change", "channel", "client", "closed", "cloud", "column", "common", "contact", "copper", "corner",
    "credit", "custom", "damage", "dealer", "delta", "detail", "device", "double", "driver", "editor",
    "effort", "energy", "engine", "export", "factor", "family", "figure", "filter", "finish", "follow",
    "format", "future", "garden", "global", "ground", "growth", "handle", "health", "history", "import",
    "income", "invoice", "island", "item", "journal", "kernel", "ladder", "launch", "leader", "ledger",
    "letter", "market", "matter", "member", "memory", "method", "middle", "minute", "mobile", "module",
    "moment", "monday", "month", "network", "north", "notice", "number", "object", "office", "online",
    "option", "orange", "order", "outside", "owner", "packet", "paper", "parcel", "partner", "patrol"};
static const char *const PB_UNI[16] = {
    "café", "Größe", "naïve", "東京", "señor", "übung", "Ålesund", "Łódź", "résumé", "Москва",
    "Ελλάδα", "crème", "smörgås", "façade", "💡idea", "Zürich"};
