// Stands for d3-color in the bundle, 3 kB of it: the transitions of D3 that the graph uses interpolate no colours.
const none = (): never => { throw new Error("colours are not interpolated"); };

export { none as rgb, none as hsl, none as lab, none as hcl, none as cubehelix };
export const color = () => null;
