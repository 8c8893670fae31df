import type { LeaseStore } from '@leasehold/core'
import { LeaseUi } from '@leasehold/ui'

/** The sessions of the program. */
export interface Sessions {
  find(cookie: string): Promise<{ readonly name: string; readonly isAdmin: boolean } | undefined>
}

export function leasesFor(store: LeaseStore, sessions: Sessions): LeaseUi {
  // #region authorize
  const ui = new LeaseUi(store, {
    path: '/leases',
    authorize: async (request) => {
      const user = await sessions.find(request.header('cookie') ?? '')
      return user && { access: user.isAdmin ? 'write' : 'read', name: user.name }
    },
  })
  // #endregion authorize
  return ui
}
