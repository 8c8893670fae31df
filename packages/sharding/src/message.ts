/** The version of the messages between processes. Processes with another one refuse each other's messages. */
export const PROTOCOL = 1

/** What JSON can hold: events, answers and snapshots travel as text. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined }

/** An event for an entity. */
export interface EventMessage {
  readonly kind: 'event'
  readonly shard: number
  /** The id of the entity. */
  readonly entity: string
  readonly event: Json
  /** The id of the message: the entity handles each id once. Absent where it is delivered at most once. */
  readonly id?: string
  /**
   * Present where the sender waits: the number under which it expects the answer. The answer goes to the address of the
   * batch's sender, after the event was handled and the snapshot saved.
   */
  readonly question?: number
  /** Whether the entity gets a `reply`. Without it, the sender only waits until the event was handled. */
  readonly wantsReply?: boolean
  /**
   * The session of the shard that the message is for: one grant of its lease. A message is taken in no other one, so a message
   * that comes late cannot be handled after later ones. Absent where the sender does not know the session yet.
   */
  readonly session?: string
}

/** What became of an event with a `question`. */
export type AnswerOutcome =
  | { readonly type: 'answered'; readonly answer?: Json }
  /** The entity certainly did not handle the event. `again`: the session has ended, and the event can be sent to the next. */
  | { readonly type: 'not-delivered'; readonly reason: string; readonly again?: string }
  /** The entity may have handled the event. `again`: as above. */
  | { readonly type: 'unknown'; readonly reason: string; readonly again?: string }

/** The answer to an event with a `question`. */
export interface AnswerMessage {
  readonly kind: 'answer'
  readonly question: number
  readonly outcome: AnswerOutcome
}

export type Message = EventMessage | AnswerMessage

/** The messages of one process for another one, in their order. */
export interface Batch {
  readonly protocol: number
  /** The name of the region. */
  readonly region: string
  /** The number of shards of the sender. */
  readonly shards: number
  /** The process that sends, and the address at which it takes answers. */
  readonly sender: { readonly owner: string; readonly address: string }
  /** The run of the sender's region. A restart is another run. */
  readonly run: string
  /** Larger for each later batch of the run to this address. The receiver takes no batch that comes late or twice. */
  readonly sequence: number
  readonly messages: readonly Message[]
}

/** What became of one message of a batch. */
export type Receipt =
  /** The message is in the queue of its entity, or the answer has arrived. */
  | { readonly outcome: 'accepted' }
  /**
   * Nothing was done: the shard is not here, or not in the session of the message. `address` is where it is, as far as the
   * receiver knows. `session`: the shard is here, in this session.
   */
  | { readonly outcome: 'moved'; readonly address?: string; readonly session?: string }
  /** Nothing was done, and sending it on does not help: a full queue, another protocol, another number of shards. */
  | { readonly outcome: 'refused'; readonly reason: string }
