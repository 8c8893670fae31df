import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { LeaseConfigurationError } from '@leasehold/core'
import type { LeaseFolder } from './lease-folder.js'
import { wallClock } from './wall-clock.js'

/** How many bits of a token count grants within a millisecond. */
const TOKEN_BITS = 20n

/**
 * For how many milliseconds of the wall clock an epoch has tokens: a minute. While leases are granted, an epoch is begun
 * once in that time, as a line that is flushed to the disk. A start of the machine goes at most so far ahead of the wall
 * clock, which an older copy of the folder that returns falls back to.
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
export function tokenNow(now: () => number = wallClock): bigint {
  return firstToken(BigInt(Math.floor(now())))
}

/**
 * Begins an epoch later than all before it, and returns it once it is on the disk for good.
 *
 * Grants are not flushed one by one, so a power failure can take back the last ones, tokens and all. Therefore no token
 * is granted that is not below the first token of the *next* epoch, and the machine begins an epoch each time it was
 * started, so that every token is larger than all before the failure. The wall clock, in milliseconds, is the least
 * that an epoch is: a folder that was deleted with its epoch, or whose database was replaced by an older copy, goes on
 * above what it had, unless the wall clock was set back meanwhile. The wall clock is used for nothing but tokens.
 *
 * Several processes and threads may do so at the same time, without a lock. Each appends a line with an epoch and an id.
 * The epoch belongs to the writer if it is larger than those of all lines before. So no two of them begin the same epoch,
 * and the largest is never lost.
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
 * An epoch that has the token, or larger tokens only, and is on the disk for good: the last one that was begun, by any
 * process, or one that is begun now.
 */
export function epochFor(folder: LeaseFolder, name: string, token: bigint): bigint {
  const path = folder.file(name)
  const last = existsSync(path) ? readEpochs(path).at(-1)?.epoch : undefined
  if (last === undefined || token >= endOfTokens(last)) {
    return beginEpoch(folder, name, () => Math.max(wallClock(), Number(token >> TOKEN_BITS)))
  }
  // Its writer may have been interrupted before it was flushed.
  const descriptor = openSync(path, 'a')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  folder.flush()
  return last
}

/** The epochs that were begun last, each larger than the one before. */
function readEpochs(path: string): { readonly epoch: bigint; readonly id: string | undefined }[] {
  const epochs: { readonly epoch: bigint; readonly id: string | undefined }[] = []
  for (const line of readTail(path).split('\n')) {
    if (line === '') continue
    const [, digits, id] = /^(\d+)(?: ([\w-]*))?$/.exec(line) ?? []
    if (digits === undefined) {
      throw new LeaseConfigurationError(
        `${path} is damaged: it holds the epochs of the fencing tokens, numbers. Delete it to go on from the wall clock`,
        { store: 'local' },
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
