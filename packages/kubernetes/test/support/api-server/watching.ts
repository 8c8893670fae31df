import type { ServerResponse } from 'node:http'
import { systemClock } from '@leasehold/core'
import type { ObjectStore, StoredEvent, StoredObject } from './object-store.js'
import { failure } from './status.js'

/** The request of a client to watch. */
export interface WatchQuery {
  /** How the keys of the objects begin, or all of the key where one is selected. */
  readonly matches: (key: string) => boolean
  readonly from: string | undefined
  readonly seconds: number
  readonly bookmarks: boolean
}

/** Sends changes to a client until it leaves or its time is over. Returns a function that ends the watch. */
export function serveWatch(store: ObjectStore, query: WatchQuery, response: ServerResponse): () => void {
  const { matches, from, seconds, bookmarks } = query
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  const send = (type: string, object: unknown): void => {
    response.write(`${JSON.stringify({ type, object })}\n`)
  }
  const past = from === undefined || from === '0' ? synthetic(store, matches) : store.since(Number(from))
  if (past === undefined) {
    const message = `too old resource version: ${from} (${store.revision})`
    send('ERROR', failure(410, 'Expired', message).body)
    response.end()
    return () => {}
  }
  for (const { type, key, object } of past) if (matches(key)) send(type, object)
  const unlisten = store.listen(({ type, key, object }) => {
    if (matches(key)) send(type, object)
  })
  const end = (): void => {
    if (bookmarks) send('BOOKMARK', { metadata: { resourceVersion: String(store.revision) } })
    response.end()
  }
  const cancel = systemClock.schedule(seconds * 1_000, end)
  response.on('close', () => {
    cancel()
    unlisten()
  })
  return end
}

/** Without a version, all that there is comes first, as if it were new. */
function synthetic(store: ObjectStore, matches: (key: string) => boolean): StoredEvent[] {
  return [...store.keys()].filter(matches).map((key) => {
    const object = store.get(key) as StoredObject
    return { type: 'ADDED', key, version: Number(object.metadata.resourceVersion), object }
  })
}
