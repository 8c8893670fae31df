import type { OptionDeclaration } from '../command-declaration.js'
import { storeKinds } from '../store-kinds.js'

/** The value of an option: none, a file, one of some words, or any text. */
export type CompletedValue = 'none' | 'file' | 'text' | readonly string[]

export function completedValue(option: OptionDeclaration): CompletedValue {
  if (option.type === 'switch') return 'none'
  if (option.type === 'choice') return option.words
  if (option.completes === 'file') return 'file'
  return option.completes === 'store' ? storeWords() : 'text'
}

/** The beginnings of the URLs of stores: `redis://`, `local:`. */
function storeWords(): readonly string[] {
  return storeKinds.flatMap(({ schemes, example }) =>
    schemes.map((scheme) => (example.includes('://') ? `${scheme}://` : `${scheme}:`)),
  )
}
