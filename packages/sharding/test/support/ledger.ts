import { type ActorLogic, type AnyEventObject, assign, type Snapshot, setup } from 'xstate'

type LedgerEvent = { type: 'add'; entry: string } | { type: 'entries'; reply?: (entries: readonly string[]) => void }

/** An entity that keeps what it is given, in order. `onHandled` sees each event as it is handled. */
export function ledger(onHandled: (id: string, entry: string) => void = () => {}) {
  return setup({
    types: {
      input: {} as { id: string },
      context: {} as { id: string; entries: readonly string[] },
      events: {} as LedgerEvent,
    },
  }).createMachine({
    context: ({ input }) => ({ id: input.id, entries: [] }),
    on: {
      add: {
        actions: [
          ({ context, event }) => onHandled(context.id, event.entry),
          assign({ entries: ({ context, event }) => [...context.entries, event.entry] }),
        ],
      },
      entries: { actions: ({ context, event }) => event.reply?.(context.entries) },
    },
  })
}

type Handler = (event: AnyEventObject & { reply?: (answer?: unknown) => void }, id: string) => void

/** An entity that does as the test says, and keeps nothing. */
export function handling(
  handler: Handler,
): ActorLogic<Snapshot<undefined> & { id: string }, AnyEventObject, { id: string }> {
  return {
    getInitialSnapshot: (_, input) => ({ status: 'active', output: undefined, error: undefined, id: input.id }),
    transition: (snapshot, event) => {
      if (!event.type.startsWith('xstate.')) handler(event, snapshot.id)
      return snapshot
    },
    getPersistedSnapshot: (snapshot) => snapshot,
  }
}
