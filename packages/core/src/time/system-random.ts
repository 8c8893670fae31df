/**
 * The random numbers of the machine, from 0 to 1, 1 excluded: the only place that draws them. All other code takes `random`
 * from its environment, so that tests and simulations can repeat what production does.
 */
export const systemRandom = (): number => Math.random()
