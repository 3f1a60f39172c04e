// Both pictures of the promise. Nothing here asks the server anything.
import { startLaws } from "./laws.js";
import { startSmoking } from "./smoking.js";

startLaws();
startSmoking();
