import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyOf } from '@leasehold/core/internal'
import { placeOf } from './mount-path.js'
import type { OpenStream, UiAnswer, UiCall } from './ui-call.js'

/** A request with the fields that Express and Connect add. */
type MountedRequest = IncomingMessage & {
  readonly originalUrl?: unknown
  readonly baseUrl?: unknown
  readonly body?: unknown
}

/** The request of a server of `node:http`, and of those that are built on it. */
export function callOfNode(request: MountedRequest, path: string): UiCall {
  const { url = '/', originalUrl, method = '' } = request
  const full = typeof originalUrl === 'string' ? originalUrl : undefined
  const isStripped = full !== undefined && full !== url
  const { place, redirect } = placeOf(path, url, full, isStripped)
  return {
    method,
    url: full ?? url,
    original: request,
    place,
    redirect,
    query: queryOf(url),
    header: (name) => textOf(request.headers[name.toLowerCase()]),
    // A parser of the server may have taken the body without leaving it here.
    body: () => (request.readableDidRead && request.body === undefined ? undefined : bodyOf(request)),
  }
}

/** Sends the answer. */
export function answerNode(request: IncomingMessage, response: ServerResponse, answer: UiAnswer): void {
  // The rest of a refused body is read, so that the sender sees the answer and not a reset.
  request.resume()
  if (response.destroyed || response.headersSent) return
  const { status, headers, body } = answer
  if (typeof body === 'function') {
    response.writeHead(status, headers)
    stream(response, body)
    return
  }
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  if (request.method === 'HEAD') response.end()
  else response.end(body)
}

function stream(response: ServerResponse, open: OpenStream): void {
  response.flushHeaders()
  const reader = open({
    write: (bytes) => response.write(bytes),
    end: () => void response.end(),
  })
  response.on('drain', () => reader.onRoom())
  response.once('close', () => reader.onGone())
  // A reader that is cut off is no error of the process.
  response.on('error', () => reader.onGone())
  if (response.destroyed) reader.onGone()
}

export function queryOf(url: string): URLSearchParams {
  const start = url.indexOf('?')
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1).replace(/#.*$/s, ''))
}

function textOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'object' ? header.join(', ') : header
}
