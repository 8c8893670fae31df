/** What can happen in a state. */
export const ASK_WAITING = 0
export const ASK_ONCE = 1
export const GIVE_UP = 2
export const LEAVE = 3
export const TIMER = 4
export const FAIL = 5
export const CRASH = 6
export const CLEAN = 7
export const RECEIVE = 8
export const DROP = 9
export const CARRY_OUT = 10
export const CARRY_OUT_COPY = 11
export const PASS = 12
export const PASS_SLOW = 13
export const PASS_FAST = 14
export const DELETE = 15

/** One step: what happens, to which client, and to which of its messages. */
export interface Action {
  readonly kind: number
  readonly client: number
  readonly message: number
}

/** Whether time passes in this step. */
export function isPassing({ kind }: Pick<Action, 'kind'>): boolean {
  return kind === PASS || kind === PASS_SLOW || kind === PASS_FAST
}
