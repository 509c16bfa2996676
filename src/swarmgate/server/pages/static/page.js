// What a page does beside being read: it follows what happens, and lets this browser be told. All of it works without.
import { follow } from "./live.js";
import { offerNotices } from "./notices.js";
import { keep } from "./forms.js";

follow(document.body.dataset);
keep(document);
offerNotices(document.querySelector("[data-notices]"));
