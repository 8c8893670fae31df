import type { GrantEffect } from '@leasehold/core/internal'

/** The effects that are the same for the lease in the other thread, but for the errors in them. */
export type EffectWithErrors = Exclude<GrantEffect, { readonly type: 'granted' | 'joined' }>

/** The effect with its errors converted: before it is passed to the other thread, or after. */
export function convertErrors(effect: EffectWithErrors, convert: (error: unknown) => unknown): EffectWithErrors {
  const converted = (error: unknown): unknown => (error === undefined ? undefined : convert(error))
  switch (effect.type) {
    case 'fault':
    case 'updated':
    case 'unreachable':
      return { ...effect, error: converted(effect.error) }
    case 'jeopardy':
      return { ...effect, cause: converted(effect.cause) }
    case 'lost': {
      const { lost } = effect
      return lost.cause === undefined ? effect : { ...effect, lost: { ...lost, cause: convert(lost.cause) } }
    }
    case 'released': {
      const { result } = effect
      return result.ended === 'unknown' ? { ...effect, result: { ...result, error: convert(result.error) } } : effect
    }
    default:
      return effect
  }
}
