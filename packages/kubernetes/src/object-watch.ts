import type { Clock } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { backoff } from '@leasehold/core/store-kit'
import type { ApiAnswer } from './api/api-answer.js'
import type { ApiClient } from './api/api-client.js'
import { isKubernetesObject, type KubernetesObject } from './kubernetes-object.js'

/** The length of a watch, in seconds; half of it is random. A dead stream is noticed after it. */
const LONGEST_SECONDS = 60
/** The length of a watch with a `silence` limit, in seconds. */
const LONGEST_SECONDS_HEARD = 600

/** How late the server may end a watch, in milliseconds. */
const GRACE = 10_000

/** The pauses before a broken watch is resumed, in milliseconds; half of each is random. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 5_000

/** A stream that ends earlier counts as brief, in milliseconds. */
const BRIEF = 1_000
/** The number of brief streams in a row before the pauses grow: a proxy may end every stream at once. */
const MOST_BRIEF = 5

export interface WatchedObject {
  readonly client: ApiClient
  readonly clock: Clock
  readonly random: () => number
  /** The path of all objects of its kind. */
  readonly path: string
  readonly name: string
  /** The version after which changes are yielded; without it, the current object comes first. */
  readonly from: string | undefined
  /** The object changes at least this often, in milliseconds; a stream without changes for longer counts as dead. */
  readonly silence?: number | undefined
  readonly failureOf: (answer: ApiAnswer) => Error | Promise<Error>
}

interface Progress {
  version: string | undefined
  /** How many attempts in a row failed; an opened stream is a success. */
  failures: number
  /** How many streams in a row were brief. */
  brief: number
  /** Whether changes may have been missed. The next stream does not show that the object was deleted. */
  missed: boolean
}

/**
 * Yields the object after each change; `undefined` when it was deleted, or when changes may have been missed. A watch that
 * ends, breaks or falls silent is resumed from the last version; one whose version has expired (410) starts again at once.
 * Ends when the call is aborted; rejects if the server does not permit the watch.
 */
export async function* watchObject(
  watched: WatchedObject,
  call: StoreCall,
): AsyncGenerator<KubernetesObject | undefined> {
  const progress: Progress = { version: watched.from, failures: 0, brief: 0, missed: false }
  while (!call.aborted) {
    try {
      yield* watchOnce(watched, progress, call)
    } catch (error) {
      if (call.aborted) return
      if (isRefusal(error)) throw error
      progress.failures += 1
    }
    if (call.aborted) return
    if (progress.missed && progress.failures === 0 && progress.brief <= MOST_BRIEF) continue
    const failures = Math.max(progress.failures, progress.brief - MOST_BRIEF)
    await watched.client.pause(backoff(failures, FIRST_PAUSE, LONGEST_PAUSE, watched.random), call).catch(() => {})
  }
}

async function* watchOnce(
  { client, clock, random, path, name, silence, failureOf }: WatchedObject,
  progress: Progress,
  call: StoreCall,
): AsyncGenerator<KubernetesObject | undefined> {
  const longest = silence === undefined ? LONGEST_SECONDS : LONGEST_SECONDS_HEARD
  const seconds = Math.ceil(longest * (0.5 + 0.5 * random()))
  const query = {
    watch: '1',
    allowWatchBookmarks: 'true',
    fieldSelector: `metadata.name=${name}`,
    timeoutSeconds: String(seconds),
    ...(progress.version === undefined ? {} : { resourceVersion: progress.version }),
  }
  const silent = new AbortableCall()
  const end = (): void => silent.abort()
  const limit = silence ?? seconds * 1_000 + GRACE
  let cancel = clock.schedule(limit, end)
  let openedAt: number | undefined
  const unlisten = call.onAbort(end)
  try {
    const opened = await client.open({ method: 'GET', path, query }, silent)
    if ('status' in opened) {
      if (opened.status !== 410 || progress.version === undefined) throw await failureOf(opened)
      progress.failures = 0
      forget(progress)
      yield undefined
      return
    }
    openedAt = clock.now()
    progress.failures = 0
    // A stream without a version starts with the current object, but shows nothing where there is none.
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
    unlisten()
    silent.abort()
  }
}

function forget(progress: Progress): void {
  progress.version = undefined
  progress.missed = true
}

/** The object in one event of a watch. Throws an error that the server sent, except for an expired version. */
function* changesOf(line: string, name: string, progress: Progress): Generator<KubernetesObject | undefined> {
  const { type, object } = JSON.parse(line) as { type?: string; object?: unknown }
  if (type === 'ERROR') {
    const { code } = (object ?? {}) as { code?: number }
    forget(progress)
    yield undefined
    if (code !== 410) throw new Error(`the watch ended with an error: ${line.slice(0, 300)}`)
    return
  }
  if (!isKubernetesObject(object)) throw new Error(`the watch event has no object: ${line.slice(0, 300)}`)
  progress.version = object.metadata.resourceVersion
  // Some proxies drop selectors.
  if (type === 'BOOKMARK' || object.metadata.name !== name) return
  yield type === 'DELETED' ? undefined : object
}

/** Whether the error is permanent. The polls of the waiter and the heartbeats of the holder report it. */
function isRefusal(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'unauthorised' || code === 'configuration'
}
