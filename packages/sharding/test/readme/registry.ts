// #region example
import { LocalLeaseStore } from '@leasehold/local'
import { httpTransport, Singleton } from '@leasehold/sharding'
import { fileState } from '@leasehold/sharding/local'
import { assign, setup } from 'xstate'

const registry = setup({
  types: {
    events: {} as
      | { type: 'register'; name: string; reply?: (isNew: boolean) => void }
      | { type: 'list'; reply?: (names: readonly string[]) => void },
    context: {} as { names: readonly string[] },
  },
}).createMachine({
  context: { names: [] },
  on: {
    register: {
      actions: [
        ({ context, event }) => event.reply?.(!context.names.includes(event.name)),
        assign({ names: ({ context, event }) => [...new Set([...context.names, event.name])] }),
      ],
    },
    list: { actions: ({ context, event }) => event.reply?.(context.names) },
  },
})

export type Registry = Singleton<typeof registry>

/** Run it in as many processes as you like, with the same folder. */
export async function startRegistry(folder: string): Promise<Registry> {
  const singleton = new Singleton(new LocalLeaseStore({ folder }), {
    name: 'registry',
    actor: registry,
    transport: httpTransport({ address: 'http://127.0.0.1:0' }),
    state: fileState(folder),
  })
  await singleton.start()
  return singleton
}

export async function register(singleton: Registry, name: string): Promise<boolean> {
  return await singleton.ask<boolean>({ type: 'register', name })
}
// #endregion example
