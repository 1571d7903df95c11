// The views in the order of the navigation. A later one (facts, documents, notes) is a line here.

import { Given } from "./views/given.js";
import { Graph } from "./views/graph.js";
import { Health } from "./views/health.js";
import { Memories } from "./views/memories.js";
import { Privacy } from "./views/privacy.js";
import { Search } from "./views/search.js";
import { Sessions } from "./views/sessions.js";
import { Storage } from "./views/storage.js";
import { Team } from "./views/team.js";
import { Why } from "./views/why.js";

/** Each with its group, the name in its address, its title, and a sentence on what it shows. */
export const VIEWS = [
  { group: "Look", name: "search", title: "Search", lead: "Find what was done, decided or said, and see why it was found.", component: Search },
  { group: "Look", name: "sessions", title: "Sessions", lead: "What each session did, what it was given, and what it then used.", component: Sessions },
  { group: "Look", name: "memories", title: "Memories", lead: "What was kept on purpose or learnt, how long it holds, and what took its place.", component: Memories },
  { group: "Look", name: "graph", title: "Graph", lead: "Who and what hangs together, and which items say so.", component: Graph },
  { group: "Judge", name: "why", title: "Why", lead: "Where one piece comes from, down to the prompt that began it.", component: Why },
  { group: "Judge", name: "given", title: "Given and used", lead: "What agents were given unasked, and whether it was of use.", component: Given },
  { group: "Keep", name: "privacy", title: "Privacy", lead: "What was hidden before it was written, and what left this machine.", component: Privacy },
  { group: "Keep", name: "storage", title: "Storage", lead: "What is kept, how much room it takes, and how it grows.", component: Storage },
  { group: "Keep", name: "team", title: "Team", lead: "Who shares this project's memory, what goes up, and how far each device has come.", component: Team },
  { group: "Keep", name: "health", title: "Health", lead: "Every link from a tool call to a search, and the remedy for what is broken.", component: Health },
];
