import type { ErrorBody } from '../../src/protocol.js'

/** The error in the answer to a refused request, or a sentence in its place. */
export async function errorOf(response: Response): Promise<ErrorBody> {
  const body: unknown = await response.json().catch(() => undefined)
  const error = (body as { error?: Partial<ErrorBody> } | undefined)?.error
  return {
    code: String(error?.code ?? response.status),
    message: String(error?.message ?? `The server answered with the status ${response.status}.`),
  }
}
