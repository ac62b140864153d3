// How labels and the ring around a node under the pointer are drawn.
import type { Settings } from "sigma/settings";
import type { NodeDisplayData, PartialButFor } from "sigma/types";

/** What labels need of the settings; the rest depends on what the graph holds. */
type LabelSettings = Pick<Settings, "labelWeight" | "labelSize" | "labelFont">;
type Shown = PartialButFor<NodeDisplayData, "x" | "y" | "size" | "label" | "color">;

export interface Ink {
  text: string;
  ground: string;
  ring: string;
}

/** Labels stand under their node, with a halo so that lines behind them do not disturb. */
export function labelDrawer(ink: () => Ink) {
  return (context: CanvasRenderingContext2D, data: Shown, settings: LabelSettings): void => {
    if (!data.label) return;
    context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`;
    context.textAlign = "center";
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = ink().ground;
    context.fillStyle = ink().text;
    const y = data.y + data.size + settings.labelSize + 2;
    context.strokeText(data.label, data.x, y);
    context.fillText(data.label, data.x, y);
    context.textAlign = "start";
  };
}

export function hoverDrawer(ink: () => Ink) {
  const draw = labelDrawer(ink);
  return (context: CanvasRenderingContext2D, data: Shown, settings: LabelSettings): void => {
    context.beginPath();
    context.arc(data.x, data.y, data.size + 4, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = ink().ring;
    context.stroke();
    draw(context, data, { ...settings, labelWeight: "600" });
  };
}
