/** A browser does not warn of many listeners. */
export function setMaxListeners(): void {}

/** A browser does not tell who listens. */
export function getEventListeners(): readonly unknown[] {
  return []
}
