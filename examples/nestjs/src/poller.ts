import { OnFollower, OnLeader } from '@leasehold/nestjs'
import type { Leader, Term } from '@leasehold/recipes'
import { Injectable } from '@nestjs/common'

/** Polls a chat, which allows one client at a time. */
@Injectable()
export class Poller {
  /** The leader, as this instance knows it. */
  leader: { readonly owner: string; readonly term: string } | undefined

  // #region leader
  @OnLeader('poller')
  poll({ term, signal }: Term): void {
    this.leader = { owner: 'this instance', term: String(term) }
    // A poller would begin here, and end with the signal.
    signal.addEventListener('abort', () => {
      this.leader = undefined
    })
  }

  @OnFollower('poller')
  follow({ owner, term }: Leader): void {
    this.leader = { owner, term: String(term) }
  }
  // #endregion leader
}
