import { distance } from 'fastest-levenshtein'

/**
 * The candidate that a user probably meant by `word`: it differs in one or two letters, in the order of two neighbours, in
 * case, or in its separators (`heartbeat_timeout`, `heartbeat.timeout`). `undefined` if none is that similar.
 */
export function suggestionFor(word: string, candidates: Iterable<string>): string | undefined {
  return nearest(word, candidates, lettersOf(word).length > 4 ? 2 : 1)
}

/** The candidate that differs from the word in case and separators only. */
export function sameWord(word: string, candidates: Iterable<string>): string | undefined {
  return nearest(word, candidates, 0)
}

function nearest(word: string, candidates: Iterable<string>, most: number): string | undefined {
  const letters = lettersOf(word)
  let [found, least]: [string | undefined, number] = [undefined, most + 1]
  for (const candidate of candidates) {
    const apart = stepsBetween(letters, lettersOf(candidate))
    if (apart < least) [found, least] = [candidate, apart]
  }
  return found
}

/** How many letters differ. Two neighbours in the wrong order count as one. */
function stepsBetween(word: string, other: string): number {
  const place = Array.from(word).findIndex((letter, index) => letter !== other[index])
  const swapped = `${word.slice(0, place)}${word[place + 1] ?? ''}${word[place] ?? ''}${word.slice(place + 2)}`
  return place >= 0 && swapped === other ? 1 : distance(word, other)
}

/** The names that other libraries have for a setting, and the name that it has here, in code. */
const otherNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    heartbeatTimeout:
      'ttl timeout duration leaseduration leasetimeout leasetime leasettl lifetime expiry expiration expiresin expires',
    heartbeatInterval:
      'interval heartbeat renewinterval renewalinterval renew renewevery renewperiod keepalive refreshinterval heartbeatperiod',
    operationTimeout: 'leaseoperationtimeout requesttimeout calltimeout commandtimeout',
    retryInterval: 'leaseretryinterval retrydelay retryperiod retry',
    maxHold: 'maxholdtime maxduration maxtime maxlifetime',
    strategy: 'renewalstrategy renewstrategy',
    leaseClass: 'class provider factory',
    wait: 'waittimeout waittime timeout maxwait',
    onLost: 'onleaselost lost',
    signal: 'abort abortsignal',
  }).flatMap(([name, others]) => others.split(' ').map((other) => [`${other} ${name}`, name] as const)),
)

/** The name among `names` that other libraries call `word`. */
export function ownNameFor(word: string, names: Iterable<string>): string | undefined {
  for (const name of names) if (otherNames.has(`${lettersOf(word)} ${name}`)) return name
  return undefined
}

function lettersOf(word: string): string {
  return word.replaceAll(/[-_.\s]/g, '').toLowerCase()
}
