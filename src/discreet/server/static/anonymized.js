// One anonymized copy: it can be deleted here, never in the ledger.
import { deletes } from "./deleting.js";

deletes("anonymize", "Its files go from this server; that it left stays in the ledger.", "/anonymize");
