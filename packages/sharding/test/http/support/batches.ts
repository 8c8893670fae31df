import type { Batch, BatchHandler, EventMessage, Receipt } from '@leasehold/sharding'

export const forever = new AbortController().signal

export const accepted: Receipt = { outcome: 'accepted' }

export function event(entity: string, content: EventMessage['event'] = { type: 'ping' }): EventMessage {
  return { kind: 'event', shard: 0, entity, event: content }
}

export function batchOf(messages: Batch['messages'], region = 'accounts'): Batch {
  const sender = { owner: 'sender', address: 'http://127.0.0.1:1' }
  return { protocol: 1, region, shards: 8, sender, run: 'run', sequence: 1, messages }
}

/** Accepts all messages, and keeps the batches. */
export function accepting(): { readonly batches: Batch[]; readonly handler: BatchHandler } {
  const batches: Batch[] = []
  const handler: BatchHandler = async (batch) => {
    batches.push(batch)
    return batch.messages.map(() => accepted)
  }
  return { batches, handler }
}

/** How a promise has settled, as far as a sender must know: `delivered`, or the code of the error, and its sentence. */
export async function outcomeOf(sent: Promise<unknown>): Promise<readonly [string, string]> {
  try {
    await sent
    return ['delivered', '']
  } catch (error) {
    return [(error as { code?: string }).code ?? 'no code', (error as Error).message]
  }
}
