import { fromTransition } from 'xstate'

/** Money that has left an account, and is not known to have arrived. */
export interface OpenTransfer {
  readonly key: string
  readonly to: string
  readonly amount: number
  /** The number of the change of the account. */
  readonly change: number
}

/** A change that the account has made before, by the key of its transfer. */
type Done = readonly [key: string, change: number]

interface AccountState {
  readonly balance: number
  /** How many changes there were: each is one more than that before, so two changes with one number show a lost one. */
  readonly changes: number
  readonly open: readonly OpenTransfer[]
  readonly done: readonly Done[]
}

/** `change`: absent where the balance is too low. */
export interface Booked {
  readonly change?: number
}

export interface Audited {
  readonly balance: number
  readonly changes: number
  readonly open: readonly OpenTransfer[]
}

type AccountEvent = { readonly reply?: (answer: Booked | Audited) => void } & (
  | { readonly type: 'withdraw'; readonly key: string; readonly to: string; readonly amount: number }
  | { readonly type: 'deposit'; readonly key: string; readonly amount: number }
  | { readonly type: 'settle'; readonly key: string }
  | { readonly type: 'audit' }
)

/** What each account has at first. */
export const OPENING_BALANCE = 100

/** How many changes an account remembers, to book none of them twice. */
const MEMORY = 200

/** An account books each key once, so that a teller without an answer can ask again. */
export const account = fromTransition(transition, { balance: OPENING_BALANCE, changes: 0, open: [], done: [] })

function transition(state: AccountState, event: AccountEvent): AccountState {
  if (event.type === 'audit') {
    const { balance, changes, open } = state
    event.reply?.({ balance, changes, open })
    return state
  }
  if (event.type === 'settle') {
    event.reply?.({})
    const settled = state.open.find(({ key }) => key === event.key)
    if (settled === undefined) return state
    return {
      ...state,
      open: state.open.filter((open) => open !== settled),
      done: remembered(state, [outgoing(event.key), settled.change]),
    }
  }
  const key = event.type === 'withdraw' ? outgoing(event.key) : `in ${event.key}`
  const before = changeOf(state, event.key, key)
  if (before !== undefined) {
    event.reply?.({ change: before })
    return state
  }
  if (event.type === 'withdraw' && state.balance < event.amount) {
    event.reply?.({})
    return state
  }
  const change = state.changes + 1
  event.reply?.({ change })
  if (event.type === 'deposit') {
    return { ...state, changes: change, balance: state.balance + event.amount, done: remembered(state, [key, change]) }
  }
  const { to, amount } = event
  const open = [...state.open, { key: event.key, to, amount, change }]
  return { ...state, changes: change, balance: state.balance - amount, open }
}

function outgoing(key: string): string {
  return `out ${key}`
}

function changeOf({ open, done }: AccountState, transfer: string, key: string): number | undefined {
  const isOut = key === outgoing(transfer)
  const under = isOut ? open.find((one) => one.key === transfer)?.change : undefined
  return under ?? done.find(([one]) => one === key)?.[1]
}

function remembered({ done }: AccountState, next: Done): readonly Done[] {
  return [...done, next].slice(-MEMORY)
}
