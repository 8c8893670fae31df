import type { StoreCall } from '@leasehold/core/store'
import { type ApiAnswer, statusOf } from './api/api-answer.js'
import type { ApiClient } from './api/api-client.js'
import { unanswered } from './failure-of.js'
import { isKubernetesObject, type KubernetesObject } from './kubernetes-object.js'

const PAGE_SIZE = '500'

/**
 * Reads all objects of a path in pages, and yields each once, with the time of the server in the answer. `failureOf`: the error for a failed answer. The items of a
 * list may lack `apiVersion` and `kind`: they cannot be written back as they are.
 */
export async function* listObjects(
  client: ApiClient,
  path: string,
  failureOf: (answer: ApiAnswer) => Promise<Error>,
  call: StoreCall,
): AsyncGenerator<{ readonly object: KubernetesObject; readonly date: number | undefined }> {
  const seen = new Set<string>()
  let next: string | undefined
  for (;;) {
    const query = { limit: PAGE_SIZE, ...(next === undefined ? {} : { continue: next }) }
    const answer = await client.send({ method: 'GET', path, query }, call)
    if (answer.status === 410 && next !== undefined) {
      // The token expired with its snapshot. The answer may have a token that continues on the current objects; without
      // one, the list starts again, and `seen` keeps it free of duplicates.
      next = statusOf(answer)?.metadata?.continue || undefined
      continue
    }
    if (answer.status !== 200) throw await failureOf(answer)
    const page = pageIn(answer)
    for (const object of page.objects) {
      if (seen.has(object.metadata.name)) continue
      seen.add(object.metadata.name)
      yield { object, date: answer.date }
    }
    if (page.next === undefined) return
    next = page.next
  }
}

function pageIn({ body, text }: ApiAnswer): { objects: readonly KubernetesObject[]; next: string | undefined } {
  const { items, metadata } = (body ?? {}) as { items?: unknown; metadata?: { continue?: unknown } | null }
  if (!Array.isArray(items) || !items.every(isKubernetesObject)) {
    throw unanswered(new Error(`the answer is not a list of objects: ${text.slice(0, 300)}`))
  }
  const next = metadata?.continue
  return { objects: items, next: typeof next === 'string' && next !== '' ? next : undefined }
}
