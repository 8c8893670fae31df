import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { misconfigured } from './failure-of.js'
import type { LeaseFolder } from './lease-folder.js'
import { wallClock } from './wall-clock.js'

/** How many bits of a token count grants within a millisecond. */
const TOKEN_BITS = 20n

/**
 * For how many milliseconds of the wall clock an epoch has tokens: a minute. While leases are granted, one epoch begins in
 * each such time, as a line that is flushed to the disk. A start of the machine puts tokens ahead of the wall clock by at
 * most that. An older copy of the folder that is put back continues from the wall clock.
 */
const SPAN = 60_000n

/** How much of the file is read, in bytes: hundreds of lines, and the largest epoch is in one of the last. */
const TAIL = 32 * 1024

/** The smallest token of an instant of the wall clock, or of an epoch, in milliseconds since 1970. */
export function firstToken(instant: bigint): bigint {
  return instant << TOKEN_BITS
}

/** The smallest number above all tokens of an epoch. */
export function endOfTokens(epoch: bigint): bigint {
  return firstToken(epoch + SPAN)
}

/** The smallest token of this instant of the wall clock. */
export function tokenNow(): bigint {
  return firstToken(BigInt(Math.floor(wallClock())))
}

/**
 * Begins an epoch later than all earlier ones, and returns it once it is on the disk.
 *
 * Grants are not flushed one by one, so a power failure can undo the last grants with their tokens. Therefore every
 * granted token is below the first token of the *next* epoch, and each start of the machine begins an epoch. Then every
 * token is larger than all tokens before the failure. An epoch is at least the wall clock, in milliseconds. So tokens
 * still grow after the folder was deleted with its epoch, or its database replaced by an older copy, unless the wall clock
 * was set back meanwhile. The wall clock serves only for tokens.
 *
 * Several processes and threads may begin epochs at the same time, without a lock. Each appends a line with an epoch and
 * an id. The epoch belongs to the writer if it is larger than the epochs of all earlier lines. So no two writers begin the
 * same epoch, and the largest epoch is never lost.
 */
export function beginEpoch(folder: LeaseFolder, name: string, now: () => number = wallClock): bigint {
  const path = folder.file(name)
  const id = randomBytes(9).toString('base64url')
  const descriptor = openSync(path, 'a', folder.fileMode)
  try {
    folder.share([path])
    for (;;) {
      const last = readEpochs(path).at(-1)?.epoch
      const instant = BigInt(Math.floor(now()))
      const next = last === undefined ? 0n : last + SPAN
      const epoch = next > instant ? next : instant
      writeSync(descriptor, `\n${epoch} ${id}\n`)
      if (!readEpochs(path).some((begun) => begun.epoch === epoch && begun.id === id)) continue
      fsyncSync(descriptor)
      folder.flush()
      return epoch
    }
  } finally {
    closeSync(descriptor)
  }
}

/**
 * An epoch with the token, or with larger tokens only, that is on the disk: the last epoch of any process, or a new one.
 */
export function epochFor(folder: LeaseFolder, name: string, token: bigint): bigint {
  const path = folder.file(name)
  const last = existsSync(path) ? readEpochs(path).at(-1)?.epoch : undefined
  if (last === undefined || token >= endOfTokens(last)) {
    return beginEpoch(folder, name, () => Math.max(wallClock(), Number(token >> TOKEN_BITS)))
  }
  // Its writer may have been interrupted before the flush.
  folder.flush(name)
  return last
}

/** The last epochs, each larger than the one before. */
function readEpochs(path: string): { readonly epoch: bigint; readonly id: string | undefined }[] {
  const epochs: { readonly epoch: bigint; readonly id: string | undefined }[] = []
  for (const line of readTail(path).split('\n')) {
    if (line === '') continue
    const [, digits, id] = /^(\d+)(?: ([\w-]*))?$/.exec(line) ?? []
    if (digits === undefined) {
      throw misconfigured(
        `${path} is damaged: it holds the epochs of the fencing tokens, numbers. Delete it to go on from the wall clock`,
      )
    }
    const epoch = BigInt(digits)
    if (epoch > (epochs.at(-1)?.epoch ?? -1n)) epochs.push({ epoch, id })
  }
  return epochs
}

/** The last whole lines of a file. */
function readTail(path: string): string {
  const descriptor = openSync(path, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const start = Math.max(size - TAIL, 0)
    const buffer = Buffer.alloc(size - start)
    const text = buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, buffer.length, start))
    return start === 0 ? text : text.slice(text.indexOf('\n'))
  } finally {
    closeSync(descriptor)
  }
}
