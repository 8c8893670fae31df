import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { LeaseConfigurationError } from '@leasehold/core'
import { wallClock } from './wall-clock.js'

/** How many bits of a token count grants within a millisecond. */
const TOKEN_BITS = 20n

/**
 * For how many milliseconds of the wall clock an epoch has tokens. An epoch is begun once in that time, where anything is
 * granted, and that is flushed to the disk.
 */
const SPAN = 60_000n

/** The smallest token of an instant of the wall clock, or of an epoch, in milliseconds since 1970. */
export function firstToken(instant: bigint): bigint {
  return instant << TOKEN_BITS
}

/** Above all tokens of an epoch. */
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
 * The caller holds the lock of the database.
 */
export function beginEpoch(file: string, mode: number, now: () => number = wallClock): bigint {
  const previous = readEpoch(file)
  const instant = BigInt(Math.floor(now()))
  const next = previous === undefined ? 0n : previous + SPAN
  const epoch = next > instant ? next : instant
  const draft = `${file}.${process.pid}`
  const descriptor = openSync(draft, 'w')
  try {
    fchmodSync(descriptor, mode)
    writeSync(descriptor, `${epoch}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, file)
  flushFolder(dirname(file))
  return epoch
}

function readEpoch(file: string): bigint | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  if (/^\d+\n$/.test(text)) return BigInt(text)
  throw new LeaseConfigurationError(
    `${file} is damaged: it holds the epoch of the fencing tokens, a number. Delete it to go on from the wall clock`,
    { store: 'local' },
  )
}

/** Makes the renaming durable. Windows cannot open folders, and its renamings are durable by the file system's log. */
function flushFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
