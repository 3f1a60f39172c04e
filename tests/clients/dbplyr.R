# R: RPostgreSQL, and dbplyr on top of it.
suppressWarnings(suppressMessages({
  library(DBI)
  library(RPostgreSQL)
  library(dplyr)
  library(dbplyr)
}))
options(warn = -1)

json <- function(x) {
  if (is.data.frame(x)) {
    rows <- lapply(seq_len(nrow(x)), function(i) json(lapply(x, function(column) column[[i]])))
    return(paste0("[", paste(rows, collapse = ", "), "]"))
  }
  if (is.list(x)) return(paste0("[", paste(vapply(x, json, ""), collapse = ", "), "]"))
  if (length(x) > 1) return(json(as.list(x)))
  if (is.character(x)) return(encodeString(x, quote = '"'))
  format(x, scientific = FALSE, digits = 15)
}

check <- function(name, ask) {
  said <- tryCatch(
    paste0('"got": ', json(ask())),
    error = function(e) {
      whole <- paste(conditionMessage(e), if (!is.null(e$parent)) conditionMessage(e$parent))
      paste0('"error": ', encodeString(substr(gsub('[\n"]', " ", whole), 1, 400), quote = '"'))
    }
  )
  cat(paste0('{"check": "', name, '", ', said, "}\n"))
}

con <- dbConnect(
  PostgreSQL(), host = Sys.getenv("PGHOST"), port = as.integer(Sys.getenv("PGPORT")),
  user = Sys.getenv("PGUSER"), password = Sys.getenv("PGPASSWORD"), dbname = "discreet",
  options = paste0("-c client_min_messages=warning -c discreet.epsilon=", Sys.getenv("DISCREET_EPSILON"))
)
people <- tbl(con, "people")
patients <- tbl(con, in_schema("clinic", "patients"))
visits <- tbl(con, in_schema("clinic", "visits"))
rows <- function(query) as.data.frame(collect(query))
one <- function(query) rows(query)[[1]]

check("ask", function() rows(people %>% count(sex) %>% arrange(sex)))
check("in", function() one(people %>% filter(age %in% c(20L, 21L)) %>% summarise(n = n())))
check("date", function() one(people %>% filter(born > as.Date("1960-01-01")) %>% summarise(n = n())))
check("columns", function() colnames(people))
check("tables", function() sort(dbListTables(con)[seq_len(3)]))
check("median", function() one(people %>% summarise(m = median(age, na.rm = TRUE))))
check("having", function() rows(people %>% count(age) %>% filter(n > 7) %>% arrange(age)))
check("top", function() rows(people %>% count(age) %>% arrange(desc(n), age) %>% head(3)))
check("share", function() {
  found <- rows(people %>% count(sex) %>% mutate(share = n / sum(n, na.rm = TRUE)))
  found <- found[order(found$sex), ]
  data.frame(sex = found$sex, share = round(found$share, 6))
})
check("distinct", function() sort(one(people %>% distinct(sex))))
check("join", function() {
  rows(visits %>% inner_join(patients, by = "person") %>% count(city) %>% arrange(city))
})
check("semi", function() one(patients %>% semi_join(visits, by = "person") %>% summarise(n = n())))
check("anti", function() one(patients %>% anti_join(visits, by = "person") %>% summarise(n = n())))
check("per person", function() {
  found <- visits %>% group_by(person) %>% summarise(k = n()) %>% summarise(m = mean(k, na.rm = TRUE))
  round(one(found), 6)
})
check("preview", function() nrow(rows(tbl(con, in_schema("preview", "people")))))
invisible(dbDisconnect(con))
