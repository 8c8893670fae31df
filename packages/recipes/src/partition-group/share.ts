/** The partitions that one member of a group has to do with, by their numbers. No number is in two of the lists. */
export interface Share {
  /** Its leases on these are held, and it keeps them. */
  readonly held: readonly number[]
  /** It asks for the leases on these. */
  readonly claimed: readonly number[]
  /** Its leases on these are held, and released as soon as the work on them has ended. */
  readonly draining: readonly number[]
}

/** One letter for each state of a partition: none, held, claimed, draining. Two bits hold any of these. */
const LETTERS = 'nhcd'

/** Marks a share that is written as two bits for each partition. */
const MAP = '*'

/** Room for the other fields of a member's metadata, in bytes. */
const OTHER_FIELDS = 100

/** The largest group whose shares always fit into `room` bytes of metadata: 6 bits are one character of base64. */
export function largestGroup(room: number): number {
  return Math.max(0, Math.floor((room - OTHER_FIELDS) / 4) * 4 * 3)
}

/** A share as text: runs such as `n12h3`, or a map of two bits for each partition where that is shorter. */
export function encodeShare(share: Share, partitions: number): string {
  const states = new Uint8Array(partitions)
  for (const partition of share.held) states[partition] = LETTERS.indexOf('h')
  for (const partition of share.claimed) states[partition] = LETTERS.indexOf('c')
  for (const partition of share.draining) states[partition] = LETTERS.indexOf('d')
  const longest = 1 + 4 * Math.ceil(partitions / 12)
  let runs = ''
  for (let start = 0; start < partitions; ) {
    let end = start + 1
    while (end < partitions && states[end] === states[start]) end += 1
    if (end < partitions || states[start] !== 0) runs += `${LETTERS[states[start] ?? 0]}${end - start}`
    if (runs.length > longest) return MAP + toMap(states).toString('base64')
    start = end
  }
  return runs
}

/** The share in a text that another process wrote. An invalid text is an empty share; numbers beyond the group are left out. */
export function decodeShare(text: string | undefined, partitions: number): Share {
  const share = { held: [] as number[], claimed: [] as number[], draining: [] as number[] }
  const lists = [undefined, share.held, share.claimed, share.draining]
  if (text?.startsWith(MAP)) {
    const map = Buffer.from(text.slice(1), 'base64')
    for (let partition = 0; partition < Math.min(partitions, 4 * map.length); partition += 1) {
      lists[((map[partition >> 2] ?? 0) >> (2 * (partition & 3))) & 3]?.push(partition)
    }
    return share
  }
  let start = 0
  for (const [, letter = '', length] of (text ?? '').matchAll(/([nhcd])(\d{1,9})/g)) {
    const end = start + Number(length)
    const list = lists[LETTERS.indexOf(letter)]
    for (let partition = start; partition < Math.min(end, partitions); partition += 1) list?.push(partition)
    start = end
  }
  return share
}

function toMap(states: Uint8Array): Buffer {
  const map = Buffer.alloc(Math.ceil(states.length / 4))
  for (const [partition, state] of states.entries()) {
    map[partition >> 2] = (map[partition >> 2] ?? 0) | (state << (2 * (partition & 3)))
  }
  return map
}
