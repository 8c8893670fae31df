import type { AnswerOutcome, Json } from './message.js'

/** An event that has reached the process of its entity. */
export interface Incoming {
  readonly event: { readonly [key: string]: Json | undefined }
  /** The entity handles each id once. */
  readonly id?: string | undefined
  /** Whether the entity answers by itself. */
  readonly wantsReply: boolean
  /** Present where the sender waits for the outcome. Called once. */
  readonly answer?: ((outcome: AnswerOutcome) => void) | undefined
}
