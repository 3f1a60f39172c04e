// The Learn page. Nothing here asks the server anything.
import { startCoins } from "./learn_coins.js";
import { startDifferencing } from "./learn_differencing.js";
import { startLaws } from "./learn_laws.js";
import { startSmoking } from "./learn_smoking.js";

startLaws();
startCoins();
startDifferencing();
startSmoking();
