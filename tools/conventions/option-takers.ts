const OWNER = /^export (?:declare )?(?:abstract )?(?:class|function) (\w+)/
/** A parameter of a callback is none of the function. */
const TAKEN = /^(?:export function |\s+constructor)[^(]*\([^(]*: (?!ProviderOptions)\w*(?:Options|Environment)\b/

/** The functions of an API report that have a parameter with options, and the classes whose constructor has one. */
export function optionTakers(report: string): string[] {
  const takers = new Set<string>()
  let owner = ''
  for (const line of report.split('\n')) {
    owner = OWNER.exec(line)?.[1] ?? owner
    if (TAKEN.test(line)) takers.add(owner)
  }
  return [...takers]
}
