import { suggestionFor } from '@leasehold/core/internal'

/** The command line is wrong; the message says how to correct it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** `did you mean …?`, if one of the words is similar; else the other help. */
export function didYouMean(
  word: string,
  words: Iterable<string>,
  otherwise: string,
  show = (meant: string): string => meant,
): string {
  const meant = suggestionFor(word, words)
  return meant === undefined ? otherwise : `did you mean ${show(meant)}?`
}

/** Throws a `UsageError` if more than one of these options is given. */
export function checkExclusive<N extends string>(
  options: Readonly<Partial<Record<N, unknown>>>,
  names: readonly N[],
): void {
  const given = names.filter((name) => options[name] !== undefined)
  if (given.length < 2) return
  throw new UsageError(`${given.map((name) => `--${name}`).join(' and ')} exclude each other: keep one of them`)
}
