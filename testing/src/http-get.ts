/** The longest time that a server of this machine may take for an answer, in milliseconds. */
const LIMIT = 10_000

/** The answer to a request to a server of this machine. Rejects without one within 10 s. */
export function httpGet(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(LIMIT) })
}
