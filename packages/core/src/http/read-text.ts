import type { IncomingMessage } from 'node:http'
import type { Clock } from '../time/clock.js'
import { inTime } from '../time/in-time.js'

interface ReadLimits {
  /** In bytes. */
  readonly limit: number
  /** In milliseconds. */
  readonly timeout: number
  readonly clock: Clock
}

/** A body as a server has it: what is still to be read, or the text that a parser has read before. */
export type HttpBody = AsyncIterable<Uint8Array> | string

/** Reads a body whose sender may send without end, or stop in the middle. It never rejects. */
export async function readText(body: HttpBody, { limit, timeout, clock }: ReadLimits): Promise<Read> {
  if (typeof body === 'string') return Buffer.byteLength(body) > limit ? 'too-large' : { text: body }
  return await inTime(clock, timeout, readAll(body, limit), () => 'too-late' as const)
}

type Read = { readonly text: string } | 'too-large' | 'too-late' | 'broken'

async function readAll(body: AsyncIterable<Uint8Array>, limit: number): Promise<Read> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > limit) return 'too-large'
      chunks.push(chunk)
    }
  } catch {
    return 'broken'
  }
  return { text: Buffer.concat(chunks).toString() }
}

/** The body of a request, also if a parser of the server has read it before, such as `express.json()`. */
export function bodyOf(request: IncomingMessage & { readonly body?: unknown }): HttpBody {
  if (!request.readableDidRead || request.body === undefined) return request.iterator({ destroyOnReturn: false })
  const { body } = request
  if (typeof body === 'string') return body
  return Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body)
}

/** The path of a request, without what stands after it. Its front may be the address of a server. */
export function pathIn(url: string | undefined): string {
  return url?.replace(/[?#].*$/s, '') ?? ''
}
