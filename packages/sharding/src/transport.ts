import type { Batch, Receipt } from './message.js'

/** Takes a batch of another process. One receipt for each message, in their order. Never rejects. */
export type BatchHandler = (batch: Batch) => Promise<readonly Receipt[]>

/** Carries messages between the processes of a region. */
export interface Transport {
  /** Where other processes reach this one. It is shown in the records of the store. It can change until `listen` resolves. */
  readonly address: string
  /** Begins to take batches for a region. Rejects if the address cannot be used. Called once for each region. */
  listen(region: string, handler: BatchHandler): Promise<void>
  /**
   * Sends the first messages of a batch, as many as fit into one request: at least one, and all if it is no more than that.
   * Resolves with a receipt for each message that was sent, in their order; the messages without a receipt were not sent. A
   * message that cannot be sent at all is refused. Rejects with a `NotDeliveredError` if no message was taken, and with an
   * `OutcomeUnknownError` if that is not known. A region sends its next batch to an address only after the answer to the one
   * before.
   */
  send(address: string, batch: Batch, signal: AbortSignal): Promise<readonly Receipt[]>
  /** Stops taking batches for a region. The last one ends connections and timers. */
  close(region: string): Promise<void>
}
