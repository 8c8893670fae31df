import type { ReleaseResult } from '../engine/engine-effect.js'
import type { GrantEffect } from '../engine/grant-effect.js'
import type { LeaseLost } from '../lease-lost.js'
import { fromPortable } from './portable-error.js'
import type { LeaseNews, PortableResult } from './thread-messages.js'

type NewsOf<T extends LeaseNews['type']> = Extract<LeaseNews, { readonly type: T }>

/** The effect that the news of a held grant has for its lease. */
export function effectOf(news: NewsOf<'renewed' | 'recovered' | 'updated' | 'jeopardy'>): GrantEffect {
  switch (news.type) {
    case 'updated':
      return news.error === undefined ? { type: 'updated' } : { type: 'updated', error: fromPortable(news.error) }
    case 'jeopardy':
      return { ...news, cause: news.cause && fromPortable(news.cause) }
    default:
      return news
  }
}

export function lossOf({ reason, owner, cause }: NewsOf<'lost'>): LeaseLost {
  return {
    reason,
    ...(owner === undefined ? {} : { owner }),
    ...(cause === undefined ? {} : { cause: fromPortable(cause) }),
  }
}

export function resultOf(result: PortableResult): ReleaseResult {
  return result.ended === 'unknown' ? { ended: 'unknown', error: fromPortable(result.error) } : result
}
