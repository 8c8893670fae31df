import type { HttpBody } from '@leasehold/core/internal'
import { placeOf } from './mount-path.js'
import { queryOf } from './node-server.js'
import type { OpenStream, OutletReader, UiAnswer, UiCall } from './ui-call.js'

/** The types of Node have no name for it. */
type ResponseBody = ConstructorParameters<typeof Response>[0]

/** How much of a stream may wait for a reader, in bytes. */
const ROOM = 65_536

/** The request of a server with the requests of the Fetch API. */
export function callOfFetch(request: Request, path: string): UiCall {
  // Hono takes the front off in `mount`, and does not say so.
  const { place, redirect } = placeOf(path, request.url, undefined, true)
  return {
    method: request.method,
    url: request.url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '') || '/',
    original: request,
    place,
    redirect,
    query: queryOf(request.url),
    header: (name) => {
      const value = request.headers.get(name)
      if (value === null && name.toLowerCase() === 'host') return hostOf(request.url)
      return value ?? undefined
    },
    body: () => (request.bodyUsed ? undefined : ((request.body as HttpBody | null) ?? '')),
  }
}

/** The answer as a `Response`. */
export function answerFetch(request: Request, answer: UiAnswer): Response {
  const { status, headers, body } = answer
  if (typeof body === 'function') return new Response(streamOf(request, body), { status, headers })
  return new Response(request.method === 'HEAD' ? null : (body as ResponseBody), { status, headers })
}

function streamOf(request: Request, open: OpenStream): ReadableStream<Uint8Array> {
  let reader: OutletReader | undefined
  let isOver = false
  const onGone = (): void => {
    isOver = true
    request.signal.removeEventListener('abort', onGone)
    reader?.onGone()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        reader = open({
          write: (bytes) => {
            if (isOver) return false
            controller.enqueue(bytes)
            return (controller.desiredSize ?? 0) > 0
          },
          end: () => {
            if (isOver) return
            isOver = true
            request.signal.removeEventListener('abort', onGone)
            controller.close()
          },
        })
        if (request.signal.aborted) onGone()
        else request.signal.addEventListener('abort', onGone, { once: true })
      },
      pull: () => reader?.onRoom(),
      cancel: onGone,
    },
    { highWaterMark: ROOM, size: (bytes) => bytes?.byteLength ?? 0 },
  )
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined
}
