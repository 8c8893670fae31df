import { LeaseConfigurationError, watchParent } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { openStore, startServer } from './support/open-store.js'

describe('a lease in Kubernetes as the parent of a lease in another process', () => {
  it('is refused: each challenger times the holder by itself', async () => {
    const { port } = await startServer()
    const store = await openStore(port)
    const watch = (): unknown => watchParent(store, 'parent', 'one')
    expect(watch).toThrow(LeaseConfigurationError)
    expect(watch).toThrow(/in the kubernetes store each challenger times the holder by itself/)
    expect(watch).toThrow(/Keep the parent in a store that tells the time left/)
  })
})
