import type { Clock } from '@leasehold/core'
import type { ApiAnswer } from './api/api-answer.js'
import type { ApiClient } from './api/api-client.js'
import { isKubernetesObject, type KubernetesObject } from './kubernetes-object.js'

/** For how long the server is asked to go on, in seconds; half of it is random. A stream that is dead is then noticed. */
const LONGEST_SECONDS = 60
/** The same where a silent stream is noticed sooner. */
const LONGEST_SECONDS_HEARD = 600

/** How long the server may be late in ending a watch, in milliseconds. */
const GRACE = 10_000

/** The pauses before a watch that broke is resumed, in milliseconds; half of each is random. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 5_000

/** A stream that ends so soon, in milliseconds, does not show that watching works ... */
const BRIEF = 1_000
/** ... where more than so many in a row did: a proxy may end each one at once, and must not be asked without a pause. */
const MOST_BRIEF = 5

/** What is watched, and with what. */
export interface WatchedObject {
  readonly client: ApiClient
  readonly clock: Clock
  /** The address of the objects of its kind. */
  readonly path: string
  readonly name: string
  /** The version from which on changes are told; without it, the object as it is comes first. */
  readonly from: string | undefined
  /** Within how many milliseconds the object certainly changes: a stream that shows nothing for so long is dead. */
  readonly silence?: number
  /** The failure that an answer is. */
  readonly failureOf: (answer: ApiAnswer) => Error
}

/** How far a watch has come. */
interface Progress {
  version: string | undefined
  /** How often in a row it could not be opened, or broke; an opened stream is a success. */
  failures: number
  /** How many streams in a row ended soon after they were opened. */
  brief: number
  /** Whether changes may have been missed, so that an object that is gone is not noticed by the next stream. */
  missed: boolean
}

/**
 * The object at each of its changes; `undefined` where it is deleted, or where changes may have been missed. A watch that
 * ends, breaks or falls silent is resumed from the version that it had come to; one whose version is forgotten (410)
 * begins anew, at once. Ends when the signal aborts; rejects where the server refuses to let it be watched.
 */
export async function* watchObject(
  watched: WatchedObject,
  signal: AbortSignal,
): AsyncGenerator<KubernetesObject | undefined> {
  const progress: Progress = { version: watched.from, failures: 0, brief: 0, missed: false }
  while (!signal.aborted) {
    try {
      yield* watchOnce(watched, progress, signal)
    } catch (error) {
      if (signal.aborted) return
      if (isRefusal(error)) throw error
      progress.failures += 1
    }
    if (signal.aborted) return
    if (progress.missed && progress.failures === 0 && progress.brief <= MOST_BRIEF) continue
    try {
      await watched.client.pause(pauseAfter(progress), signal)
    } catch {
      return
    }
  }
}

function pauseAfter({ failures, brief }: Progress): number {
  const doublings = Math.min(Math.max(failures, brief - MOST_BRIEF), 16)
  return Math.min(FIRST_PAUSE * 2 ** doublings, LONGEST_PAUSE) * (0.5 + 0.5 * Math.random())
}

async function* watchOnce(
  { client, clock, path, name, silence, failureOf }: WatchedObject,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<KubernetesObject | undefined> {
  const longest = silence === undefined ? LONGEST_SECONDS : LONGEST_SECONDS_HEARD
  const seconds = Math.ceil(longest * (0.5 + 0.5 * Math.random()))
  const query = {
    watch: '1',
    allowWatchBookmarks: 'true',
    fieldSelector: `metadata.name=${name}`,
    timeoutSeconds: String(seconds),
    ...(progress.version === undefined ? {} : { resourceVersion: progress.version }),
  }
  const silent = new AbortController()
  const end = (): void => silent.abort(signal.reason)
  const limit = silence ?? seconds * 1_000 + GRACE
  let cancel = clock.schedule(limit, end)
  let openedAt: number | undefined
  signal.addEventListener('abort', end)
  try {
    const opened = await client.open({ method: 'GET', path, query }, silent.signal)
    if ('status' in opened) {
      if (opened.status !== 410 || progress.version === undefined) throw failureOf(opened)
      progress.failures = 0
      forget(progress)
      yield undefined
      return
    }
    openedAt = clock.now()
    progress.failures = 0
    // It begins with the object as it is, but not where there is none.
    if (progress.missed) yield undefined
    progress.missed = false
    for await (const line of opened) {
      if (silence !== undefined) {
        cancel()
        cancel = clock.schedule(limit, end)
      }
      yield* changesOf(line, name, progress)
    }
  } finally {
    if (openedAt !== undefined) progress.brief = clock.now() - openedAt < BRIEF ? progress.brief + 1 : 0
    cancel()
    signal.removeEventListener('abort', end)
    silent.abort()
  }
}

function forget(progress: Progress): void {
  progress.version = undefined
  progress.missed = true
}

/** The object that one event of a watch shows. Throws an error that the server sent, unless it is that the version is forgotten. */
function* changesOf(line: string, name: string, progress: Progress): Generator<KubernetesObject | undefined> {
  const { type, object } = JSON.parse(line) as { type?: string; object?: unknown }
  if (type === 'ERROR') {
    const { code } = (object ?? {}) as { code?: number }
    forget(progress)
    yield undefined
    if (code !== 410) throw new Error(`the watch ended with an error: ${line.slice(0, 300)}`)
    return
  }
  if (!isKubernetesObject(object)) throw new Error(`the watch tells of what is no object: ${line.slice(0, 300)}`)
  progress.version = object.metadata.resourceVersion
  // In front of some servers, selectors are not heeded.
  if (type === 'BOOKMARK' || object.metadata.name !== name) return
  yield type === 'DELETED' ? undefined : object
}

/** A refusal that trying again would not change; the waiter's polls and the holder's heartbeats report it. */
function isRefusal(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'unauthorised' || code === 'configuration'
}
