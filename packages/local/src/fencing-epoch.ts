import { closeSync, existsSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { largerOf, wallTime } from '@leasehold/core/store-kit'
import { misconfigured } from './failure-of.js'
import type { LeaseFolder } from './lease-folder.js'

/** How many bits of a token count grants within a millisecond. */
const TOKEN_BITS = 20n

/**
 * The time of the wall clock for which an epoch has tokens, in milliseconds: a minute. While leases are granted, one epoch
 * begins in each such time, as a line that is flushed to the disk. A start of the machine puts tokens ahead of the wall
 * clock by at most this time. If an older copy of the folder is put back, tokens continue from the wall clock.
 */
const SPAN = 60_000n

/** How much of the file is read, in bytes. That is hundreds of lines, and the largest epoch is in one of the last. */
const TAIL = 32 * 1024

interface Epoch {
  /** Its first instant, in milliseconds since 1970. */
  readonly epoch: bigint
  /** The log that it was begun for. */
  readonly log: string | undefined
}

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
  return firstToken(BigInt(Math.floor(wallTime())))
}

/**
 * Finds or begins an epoch of the log that gives `token`, or only larger tokens. It is on the disk when this returns. `log`
 * identifies the log for which tokens are granted.
 *
 * Grants are not flushed one by one, so a power failure can undo the last grants with their tokens. Therefore every
 * granted token is below the first token of the *next* epoch, and each log has epochs of its own. Each start of the machine
 * begins a log. Then every token is larger than all tokens before the failure. An epoch is at least the wall clock, in
 * milliseconds. So tokens still grow after the folder was deleted with its epochs, or its database replaced by an older
 * copy, unless the wall clock was set back meanwhile. The wall clock serves only for tokens.
 *
 * An epoch is begun only for a log that is in force. Processes that create one at the same time make several drafts, and
 * an epoch for each draft would put the tokens a minute further ahead of the wall clock. A folder that is then deleted
 * would grant smaller tokens.
 *
 * Several processes and threads may begin epochs at the same time, without a lock. Each appends a line with an epoch and
 * the log. The epoch is begun if it is larger than the epochs of all earlier lines. So no two logs have the same epoch, and
 * the largest epoch is never lost. Two writers of one log may begin two epochs within milliseconds of each other.
 */
export function epochFor(folder: LeaseFolder, name: string, log: string, token: bigint, now = wallTime): bigint {
  const path = folder.file(name)
  for (;;) {
    const begun = readEpochs(path)
    const own = begun.findLast((epoch) => epoch.log === log)
    if (own !== undefined && token < endOfTokens(own.epoch)) {
      // Another process may have written it, and may have been interrupted before the flush.
      folder.flush(name)
      return own.epoch
    }
    const last = begun.at(-1)?.epoch
    const instant = largerOf(BigInt(Math.floor(now())), token >> TOKEN_BITS)
    const epoch = last === undefined ? instant : largerOf(last + SPAN, instant)
    append(folder, path, `\n${epoch} ${log}\n`)
  }
}

/** Throws if the epochs in the file cannot be read. */
export function checkEpochs(folder: LeaseFolder, name: string): void {
  readEpochs(folder.file(name))
}

function append(folder: LeaseFolder, path: string, line: string): void {
  const descriptor = openSync(path, 'a', folder.fileMode)
  try {
    folder.share([path])
    writeSync(descriptor, line)
  } finally {
    closeSync(descriptor)
  }
}

/** The last epochs, each larger than the one before. */
function readEpochs(path: string): Epoch[] {
  const epochs: Epoch[] = []
  if (!existsSync(path)) return epochs
  for (const line of readTail(path).split('\n')) {
    if (line === '') continue
    const [, digits, log] = /^(\d+)(?: ([\w-]*))?$/.exec(line) ?? []
    if (digits === undefined) {
      throw misconfigured(
        `${path} is damaged: it holds the epochs of the fencing tokens, numbers. Delete it to go on from the wall clock`,
      )
    }
    const epoch = BigInt(digits)
    if (epoch > (epochs.at(-1)?.epoch ?? -1n)) epochs.push({ epoch, log })
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
