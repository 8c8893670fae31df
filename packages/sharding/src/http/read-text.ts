import type { Clock } from '@leasehold/core'
import { inTime } from '@leasehold/core/internal'

interface ReadLimits {
  /** In bytes. */
  readonly limit: number
  /** In milliseconds. */
  readonly timeout: number
  readonly clock: Clock
}

/** Reads a body whose sender may send without end, or stop in the middle. It never rejects. */
export async function readText(
  body: AsyncIterable<Uint8Array> | string,
  { limit, timeout, clock }: ReadLimits,
): Promise<Read> {
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
