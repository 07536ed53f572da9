/** The language client's own code, loaded at its first use: the editor does not wait for it when it activates Stet. */
import type * as Client from "./client";

export function protocol(): typeof Client {
  return require("./client") as typeof Client;
}
