import { assign, setup } from 'xstate'

interface ChatMessage {
  /** Counted in the room, from 1 on. */
  readonly number: number
  readonly from: string
  readonly text: string
}

/** What a room answers. */
export interface RoomAnswer {
  /** The number of the last message. */
  readonly last: number
  readonly messages: readonly ChatMessage[]
}

// #region room
export type RoomEvent = { readonly reply?: (answer: RoomAnswer) => void } & (
  | { type: 'say'; from: string; text: string; key: string }
  | { type: 'read'; after: number }
)

interface RoomContext {
  readonly id: string
  readonly last: number
  readonly messages: readonly ChatMessage[]
  readonly keys: readonly string[]
}

/** How many messages a room keeps. */
const KEPT = 200

/** A chat room. It handles one event at a time, so that all members see the messages in one order. */
export const room = setup({
  types: { input: {} as { id: string }, context: {} as RoomContext, events: {} as RoomEvent },
  guards: { isRepeated: ({ context, event }) => event.type === 'say' && context.keys.includes(event.key) },
  actions: {
    add: assign(({ context, event }) => {
      if (event.type !== 'say') return {}
      const { from, text, key } = event
      const last = context.last + 1
      const messages = [...context.messages, { number: last, from, text }].slice(-KEPT)
      return { last, messages, keys: [...context.keys, key].slice(-KEPT) }
    }),
    answer: ({ context: { last, messages }, event }) => {
      const after = event.type === 'read' ? event.after : last
      event.reply?.({ last, messages: messages.filter(({ number }) => number > after) })
    },
  },
}).createMachine({
  context: ({ input }) => ({ id: input.id, last: 0, messages: [], keys: [] }),
  on: {
    say: [{ guard: 'isRepeated', actions: 'answer' }, { actions: ['add', 'answer'] }],
    read: { actions: 'answer' },
  },
})
// #endregion room
