import { assign, setup } from 'xstate'

/** What an account answers. */
export type AccountAnswer = { readonly balance: number } | { readonly refused: string; readonly balance: number }

/** An event has `reply` where the sender has asked. */
interface Asked {
  readonly reply?: (answer: AccountAnswer) => void
}

// #region account
export type AccountEvent = Asked &
  (
    | { type: 'deposit'; amount: number; key: string }
    | { type: 'withdraw'; amount: number; key: string }
    | { type: 'balance' }
  )

/** How many keys of bookings an account keeps. */
const KEPT_KEYS = 100

/** A bank account. It books each key once: a client that got no answer repeats its request with the same key. */
export const account = setup({
  types: {
    input: {} as { id: string },
    context: {} as { id: string; balance: number; keys: readonly string[] },
    events: {} as AccountEvent,
  },
  guards: {
    isRepeated: ({ context, event }) => 'key' in event && context.keys.includes(event.key),
    isCovered: ({ context, event }) => 'amount' in event && event.amount <= context.balance,
  },
  actions: {
    book: assign(({ context, event }) => {
      if (event.type === 'balance') return {}
      const change = event.type === 'deposit' ? event.amount : -event.amount
      return { balance: context.balance + change, keys: [...context.keys, event.key].slice(-KEPT_KEYS) }
    }),
    answer: ({ context, event }) => event.reply?.({ balance: context.balance }),
    refuse: ({ context, event }) => event.reply?.({ refused: 'the balance is too low', balance: context.balance }),
  },
}).createMachine({
  context: ({ input }) => ({ id: input.id, balance: 0, keys: [] }),
  on: {
    deposit: [{ guard: 'isRepeated', actions: 'answer' }, { actions: ['book', 'answer'] }],
    withdraw: [
      { guard: 'isRepeated', actions: 'answer' },
      { guard: 'isCovered', actions: ['book', 'answer'] },
      { actions: 'refuse' },
    ],
    balance: { actions: 'answer' },
  },
})
// #endregion account
