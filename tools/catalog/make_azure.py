#!/usr/bin/env python3
"""Makes runtime/catalog/data/azure.catalog: shapes of Azure's machine types, and prices as they stood in a public copy of Azure's retail prices
(prices.azure.com) of the middle of 2024, for regions of the United States, and in an older one (COPY) elsewhere. Sizes of one D family cost the same for
each vCPU, which both copies show. What has no price here has its types with a price that is not known. The format that is written: docs/catalog.md.
"""
AS_OF, COPY_OF = "2024-06-01", "2021-06-01"
US = ("centralus", "eastus", "eastus2", "northcentralus", "southcentralus", "westcentralus", "westus", "westus2", "westus3")
ELSEWHERE = ("australiaeast", "australiasoutheast", "brazilsouth", "canadacentral", "canadaeast", "centralindia", "eastasia", "francecentral",
             "germanywestcentral", "israelcentral", "italynorth", "japaneast", "japanwest", "koreacentral", "mexicocentral", "northeurope", "norwayeast",
             "polandcentral", "qatarcentral", "southafricanorth", "southeastasia", "southindia", "spaincentral", "swedencentral", "switzerlandnorth",
             "uaenorth", "uksouth", "ukwest", "westeurope", "westindia")

# Families of D by the price of 8 vCPUs in each region of US: name with {} for the vCPUs -> (GiB a vCPU, sizes, on demand, spot).
V5, V4 = (2, 4, 8, 16, 32, 48, 64, 96), (2, 4, 8, 16, 32, 48, 64)
BY_VCPU = {
    "Standard_D{}s_v5": (4, V5, (.434, .384, .384, .384, .461, .461, .448, .384, .384),
                         (.04774, .04224, .04992, .04992, .054951, .05993, .049638, .04992, .04224)),
    "Standard_D{}_v5": (4, V5, (.434, .384, .384, .384, .461, .461, .448, .384, .384),
                        (.04774, .04224, .04992, .04992, .054951, .05993, .049638, .04992, .04224)),
    "Standard_D{}ds_v5": (4, V5, (.511, .452, .452, .452, .542, .542, .532, .452, .452),
                          (.05621, .04972, .05876, .05876, .064606, .07046, .058946, .05876, .04972)),
    "Standard_D{}ls_v5": (2, V5, (.384, .34, .34, .34, .408, .408, .424, .34, .34),
                          (.04224, .0374, .0442, .0442, .048634, .05304, .046979, .0442, .0374)),
    "Standard_D{}as_v5": (4, V5, (.389, .344, .344, .344, .413, .413, .404, .344, .344),
                          (.04279, .03784, .047231, .04472, .04543, .05369, .04444, .04472, .03784)),
    "Standard_D{}ads_v5": (4, V5, (.466, .412, .412, .412, .494, .494, .488, .412, .412),
                           (.05126, .04532, .056568, .05356, .05434, .06422, .05368, .05356, .04532)),
    "Standard_D{}s_v4": (4, V4, (.434, .384, .384, .384, .461, .461, .448, .384, .384),
                         (.04774, .04224, .04992, .04992, .05071, .05993, .04928, .04992, .04224)),
    "Standard_D{}s_v3": (4, V4, (.44, .384, .384, .4, .44, .44, .468, .384, .384),
                         (.0484, .04224, .04992, .052, .0484, .0572, .05148, .04992, .04224)),
    "Standard_D{}_v3": (4, V4, (.44, .384, .384, .4, .44, .44, .468, .384, .384),
                        (.0484, .04224, .04992, .052, .0484, .0572, .05148, .04992, .04224)),
}
# Families of which only the shape is known from that copy: GiB a vCPU, sizes.
SHAPES = {"Standard_E{}s_v5": (8, (2, 4, 8, 16, 20, 32, 48, 64)), "Standard_E{}s_v4": (8, (2, 4, 8, 16, 20, 32, 48)),
          "Standard_E{}s_v3": (8, (2, 4, 8, 16, 32, 48)), "Standard_E{}as_v4": (8, (2, 4, 8, 16, 20, 32, 48, 64)),
          "Standard_D{}ds_v4": (4, V4), "Standard_D{}as_v4": (4, (2, 4, 8, 16, 32, 48, 64, 96)),
          "Standard_F{}s_v2": (2, (2, 4, 8, 16, 32, 48, 64, 72))}
# name: (vCPUs, GiB, graphics processors, model, MiB of each), prices on demand and spot by region of US; "-": it is not there.
_ = "-"
SINGLE = {
    "Standard_A1_v2": ((1, 2, 0, "-", 0), (.043, .043, .043, .043, .043, .04, .043, .036, .036), (.00473, .00473, .00559, .00559, .00473, .0052, .00473, .00468, .00396)),
    "Standard_A2_v2": ((2, 4, 0, "-", 0), (.0903, .0903, .0903, .0903, .0903, .083, .0903, .0756, .076), (.009933, .009933, .011739, .011739, .009933, .01079, .009933, .009828, .00836)),
    "Standard_A4_v2": ((4, 8, 0, "-", 0), (.191, .191, .191, .191, .191, .175, .191, .159, .159), (.02101, .02101, .02483, .02483, .02101, .02275, .02101, .02067, .01749)),
    "Standard_A8_v2": ((8, 16, 0, "-", 0), (.399, .399, .399, .399, .399, .367, .399, .333, .333), (.04389, .04389, .05187, .05187, .04389, .04771, .04389, .04329, .03663)),
    "Standard_A2m_v2": ((2, 16, 0, "-", 0), (.119, .119, .119, .119, .119, .11, .119, .099, .099), (.01309, .01309, .01547, .01547, .01309, .0143, .01309, .01287, .01089)),
    "Standard_A4m_v2": ((4, 32, 0, "-", 0), (.237, .237, .237, .237, .237, .221, .237, .199, .208), (.02607, .02607, .03081, .03081, .02607, .02873, .02607, .02587, .02288)),
    "Standard_A8m_v2": ((8, 64, 0, "-", 0), (.475, .475, .475, .475, .475, .442, .475, .397, .437), (.05225, .05225, .06175, .06175, .05225, .05746, .05225, .05161, .04807)),
    "Standard_B1s": ((1, 1, 0, "-", 0), (.0125, .0104, .0104, .0104, .0125, .0125, .0124, .0104, .0104), None),
    "Standard_B1ms": ((1, 2, 0, "-", 0), (.025, .0207, .0208, .0208, .025, .025, .0248, .0207, .0207), None),
    "Standard_B2s": ((2, 4, 0, "-", 0), None, None),
    "Standard_B2ms": ((2, 8, 0, "-", 0), None, None),
    "Standard_B4ms": ((4, 16, 0, "-", 0), None, None),
    "Standard_B8ms": ((8, 32, 0, "-", 0), None, None),
    "Standard_B12ms": ((12, 48, 0, "-", 0), (.599, .499, .499, .499, .599, .599, .595, .499, .499), None),
    "Standard_B16ms": ((16, 64, 0, "-", 0), (.799, .666, .666, .666, .799, .799, .794, .666, .666), None),
    "Standard_B20ms": ((20, 80, 0, "-", 0), (.998, .832, .832, .832, .998, .998, .992, .832, .832), None),
    "Standard_B2ats_v2": ((2, 1, 0, "-", 0), (.0106, .0094, .0094, .0094, .0113, .0113, .0112, .0094, .0094), (.002915, .002585, .002585, .002585, _, _, _, _, _)),
    "Standard_B2als_v2": ((2, 4, 0, "-", 0), (.0425, .0376, .0376, .0376, .0451, .0451, .0446, .0376, .0376), (.011688, .01034, .01034, .01034, .012402, .012402, .012265, .01034, .01034)),
    "Standard_B2as_v2": ((2, 8, 0, "-", 0), (.085, .0752, .0752, .0752, .0902, .0902, .0892, .0752, .0752), (.023375, .02068, .02068, .02068, .024805, .024805, .02453, .02068, .02068)),
    "Standard_B16as_v2": ((16, 64, 0, "-", 0), (.68, .602, .602, .602, .722, .722, .714, .602, .602), (.187, .16555, .16555, .16555, .19855, .19855, .19635, .16555, .16555)),
    "Standard_NC4as_T4_v3": ((4, 28, 1, "NVIDIA_T4", 16384), (.594, .526, .526, .526, .631, _, .631, .526, .526), (.06534, .062699, .05786, .05786, .06941, _, .06941, .061595, .05786)),
    "Standard_NC8as_T4_v3": ((8, 56, 1, "NVIDIA_T4", 16384), (.849, .752, .752, .752, .902, _, .902, .752, .752), (.09339, .089638, .08272, .08272, .09922, _, .09922, .088059, .08272)),
    "Standard_NC16as_T4_v3": ((16, 110, 1, "NVIDIA_T4", 16384), (1.36, 1.204, 1.204, 1.204, 1.445, _, 1.445, 1.204, 1.204), (.1496, .143517, .13244, .13244, .15895, _, .15895, .140988, .13244)),
    "Standard_NC64as_T4_v3": ((64, 440, 4, "NVIDIA_T4", 16384), (4.907, 4.352, 4.352, 4.352, 5.222, _, 5.222, 4.352, 4.352), (.53977, .518758, .47872, .47872, .57442, _, .57442, .509619, .47872)),
    "Standard_NC6": ((6, 56, 1, "NVIDIA_K80", 12288), (_, _, _, _, 1.08, _, _, .9, _), (_, _, _, _, .1188, _, _, .099, _)),
    "Standard_NC24": ((24, 224, 4, "NVIDIA_K80", 12288), (_, _, _, _, 4.32, _, _, 3.6, _), (_, _, _, _, .4752, _, _, .396, _)),
    "Standard_NC6s_v3": ((6, 112, 1, "NVIDIA_V100", 16384), (3.458, 3.06, 3.06, _, 3.366, _, 3.978, 3.06, 3.06), (.394212, .3978, .404838, _, .388773, _, .459061, .35343, .3366)),
    "Standard_NC24s_v3": ((24, 448, 4, "NVIDIA_V100", 16384), (13.831, 12.24, 12.24, _, 13.464, _, 15.912, 12.24, 12.24), (1.576734, 1.5912, 1.619352, _, 1.555092, _, 1.836245, 1.41372, 1.3464)),
    "Standard_NC24rs_v3": ((24, 448, 4, "NVIDIA_V100", 16384), (15.214, 13.46, 13.464, _, 14.8104, _, 17.503, 13.46, 13.46), (1.734396, 1.7498, 1.781287, _, 1.710601, _, 2.019846, 1.55463, 1.4806)),
    "Standard_NC24ads_A100_v4": ((24, 220, 1, "NVIDIA_A100", 81920), (4.15, 3.673, 3.673, _, 4.408, _, 4.775, 3.673, 3.673), (.4565, .444433, .47749, _, .57304, _, .647968, .615962, .40403)),
    "Standard_NC48ads_A100_v4": ((48, 440, 2, "NVIDIA_A100", 81920), (8.301, 7.346, 7.346, _, 8.815, _, 9.55, 7.346, 7.346), (.91311, .888866, .95498, _, 1.14595, _, 1.295935, 1.231924, .80806)),
    "Standard_NC96ads_A100_v4": ((96, 880, 4, "NVIDIA_A100", 81920), (16.602, 14.692, 14.692, _, 17.63, _, 19.1, 14.692, 14.692), (1.82622, 1.777732, 1.90996, _, 2.2919, _, 2.59187, 2.463848, 1.61612)),
    "Standard_NC40ads_H100_v5": ((40, 320, 1, "NVIDIA_H100", 96256), (_, 6.98, 6.98, _, 8.38, _, _, _, 6.98), None),
    "Standard_NC80adis_H100_v5": ((80, 640, 2, "NVIDIA_H100", 96256), (_, 13.96, 13.96, _, 16.76, _, _, _, 13.96), None),
    "Standard_ND40rs_v2": ((40, 672, 8, "NVIDIA_V100", 32768), (_, 22.032, _, _, 26.438, _, _, 22.032, _), (_, 2.42352, _, _, 2.90818, _, _, 2.42352, _)),
    "Standard_ND96asr_v4": ((96, 900, 8, "NVIDIA_A100", 40960), (_, 27.197, _, _, 32.63, _, _, 27.197, _), (_, 2.99167, _, _, 3.5893, _, _, 2.99167, _)),
    "Standard_ND96amsr_A100_v4": ((96, 1800, 8, "NVIDIA_A100", 81920), (_, 32.77, 32.77, _, 39.324, _, _, _, _), (_, 3.6047, 3.611254, _, 4.32564, _, _, _, _)),
    "Standard_ND96isr_H100_v5": ((96, 1900, 8, "NVIDIA_H100", 81920), (_, 98.32, 98.32, _, _, _, 127.816, _, _), None),
    "Standard_NV36ads_A10_v5": ((36, 440, 1, "NVIDIA_A10", 24576), (_, 3.2, 3.2, 3.84, 3.84, _, 4.16, 3.2, 3.2), (_, .8, .8, .96, .96, _, 1.04, .8, .8)),
    "Standard_NV72ads_A10_v5": ((72, 880, 2, "NVIDIA_A10", 24576), (_, 6.52, 6.52, 7.824, 7.824, _, 8.476, 6.52, 6.52), (_, 1.63, 1.63, 1.956, 1.956, _, 2.119, 1.63, 1.63)),
}
# On demand, as they stood about the middle of 2021 in the copy of Azure's prices that Apache Libcloud carries: of 8 vCPUs of families whose sizes cost
# the same for each vCPU, and of the B family. Where the copy of 2024 has a price too, both have the same for all types of D and B.
COPIED = ("Standard_D{}_v3", "Standard_D{}s_v3", "Standard_D{}s_v4", "Standard_D{}ds_v4", "Standard_D{}as_v4", "Standard_E{}s_v3", "Standard_E{}s_v4",
          "Standard_E{}as_v4", "Standard_F{}s_v2")
COPY = {
    "centralus": (0.44, 0.44, 0.434, 0.511, 0.434, 0.583, 0.57, 0.57, 0.408),
    "eastus": (0.384, 0.384, 0.384, 0.452, 0.384, 0.504, 0.504, 0.504, 0.338),
    "eastus2": (0.384, 0.384, 0.384, 0.452, 0.384, 0.532, 0.504, 0.504, 0.338),
    "northcentralus": (0.4, 0.4, 0.384, 0.452, _, 0.504, 0.504, _, 0.34),
    "southcentralus": (0.44, 0.44, 0.461, 0.588, 0.461, 0.583, 0.605, 0.605, 0.408),
    "westcentralus": (0.44, 0.44, 0.461, 0.542, _, 0.583, 0.605, _, 0.408),
    "westus": (0.468, 0.468, 0.448, 0.532, 0.448, 0.56, 0.56, 0.56, 0.424),
    "westus2": (0.384, 0.384, 0.384, 0.452, 0.384, 0.504, 0.504, 0.504, 0.338),
    "australiaeast": (0.5, 0.5, 0.48, 0.568, 0.48, 0.638, 0.604, 0.604, 0.444),
    "australiasoutheast": (0.5, 0.5, 0.499, 0.542, _, 0.638, 0.655, _, 0.445),
    "brazilsouth": (0.636, 0.636, 0.612, 0.72, 0.612, 0.94, 0.804, 0.804, 0.524),
    "canadacentral": (0.444, 0.444, 0.428, 0.504, _, 0.584, 0.552, _, 0.371),
    "canadaeast": (0.444, 0.444, 0.428, 0.542, _, 0.584, 0.552, _, 0.371),
    "centralindia": (0.42, 0.42, 0.404, 0.488, 0.404, 0.548, 0.52, 0.52, 0.34),
    "eastasia": (0.528, 0.528, 0.595, 0.701, 0.528, 0.668, 0.781, 0.668, 0.432),
    "francecentral": (0.448, 0.448, 0.448, 0.528, 0.448, 0.624, 0.592, 0.592, 0.404),
    "germanywestcentral": (0.46, 0.46, 0.46, 0.544, _, 0.608, 0.608, _, 0.388),
    "japaneast": (0.516, 0.516, 0.496, 0.584, 0.496, 0.64, 0.608, 0.608, 0.428),
    "japanwest": (0.516, 0.516, 0.546, 0.642, _, 0.64, 0.669, _, 0.469),
    "koreacentral": (0.492, 0.492, 0.472, 0.556, 0.472, 0.64, 0.608, 0.608, 0.384),
    "northeurope": (0.428, 0.428, 0.428, 0.504, 0.428, 0.564, 0.564, 0.564, 0.384),
    "norwayeast": (0.528, 0.528, _, _, _, 0.704, _, _, _),
    "southafricanorth": (0.536, 0.536, 0.515, 0.606, _, 0.675, 0.675, _, 0.456),
    "southeastasia": (0.5, 0.5, 0.48, 0.564, 0.48, 0.64, 0.608, 0.608, 0.392),
    "southindia": (0.541, 0.541, _, _, _, 0.667, _, _, 0.374),
    "switzerlandnorth": (0.576, 0.576, 0.576, 0.678, _, 0.768, 0.756, _, 0.466),
    "uaenorth": (0.48, 0.48, _, _, _, 0.605, _, _, 0.408),
    "uksouth": (0.464, 0.464, 0.444, 0.524, 0.444, 0.624, 0.592, 0.592, 0.404),
    "ukwest": (0.464, 0.464, 0.465, 0.547, _, 0.624, 0.61, _, 0.405),
    "westeurope": (0.48, 0.48, 0.46, 0.544, 0.46, 0.64, 0.608, 0.608, 0.388),
    "westindia": (0.492, 0.492, _, _, _, 0.608, _, _, 0.34),
}
COPIED_B = ("Standard_B1s", "Standard_B1ms", "Standard_B2s", "Standard_B2ms", "Standard_B4ms", "Standard_B8ms", "Standard_B12ms", "Standard_B16ms", "Standard_B20ms")
COPY_B = {
    "centralus": (0.0125, 0.025, 0.0499, 0.0998, 0.2, 0.399, 0.599, 0.799, 0.998),
    "eastus": (0.0104, 0.0207, 0.0416, 0.0832, 0.166, 0.333, 0.499, 0.666, 0.832),
    "eastus2": (0.0104, 0.0208, 0.0416, 0.0832, 0.166, 0.333, 0.499, 0.666, 0.832),
    "northcentralus": (0.0104, 0.0208, 0.0416, 0.0832, 0.166, 0.333, 0.499, 0.666, 0.832),
    "southcentralus": (0.0125, 0.025, 0.0499, 0.0998, 0.2, 0.399, 0.599, 0.799, 0.998),
    "westcentralus": (0.0125, 0.025, 0.0499, 0.0998, 0.2, 0.399, 0.599, 0.799, 0.998),
    "westus": (0.0124, 0.0248, 0.0496, 0.0992, 0.198, 0.397, 0.595, 0.794, 0.992),
    "westus2": (0.0104, 0.0207, 0.0416, 0.0832, 0.166, 0.333, 0.499, 0.666, 0.832),
    "australiaeast": (0.0132, 0.0264, 0.0528, 0.106, 0.211, 0.422, 0.634, 0.845, 1.056),
    "australiasoutheast": (0.0132, 0.0264, 0.0528, 0.106, 0.211, 0.423, 0.634, 0.845, 1.057),
    "brazilsouth": (0.0168, 0.0336, 0.0672, 0.134, 0.269, 0.538, 0.806, 1.075, 1.344),
    "canadacentral": (0.0116, 0.023, 0.0464, 0.0928, 0.185, 0.371, 0.556, 0.742, 0.927),
    "canadaeast": (0.0116, 0.0233, 0.0466, 0.0932, 0.186, 0.373, 0.559, 0.745, 0.932),
    "centralindia": (0.0112, 0.0224, 0.0448, 0.0896, 0.179, 0.358, 0.538, 0.717, 0.896),
    "eastasia": (0.0146, 0.0292, 0.0584, 0.117, 0.234, 0.467, 0.701, 0.934, 1.168),
    "francecentral": (0.0118, 0.0236, 0.0472, 0.0944, 0.189, 0.378, 0.566, 0.755, 0.944),
    "germanywestcentral": (0.012, 0.024, 0.048, 0.096, 0.192, 0.384, 0.576, 0.768, 0.96),
    "japaneast": (0.0136, 0.0272, 0.0544, 0.109, 0.218, 0.435, 0.653, 0.87, 1.088),
    "japanwest": (0.015, 0.03, 0.0599, 0.12, 0.24, 0.479, 0.719, 0.958, 1.198),
    "koreacentral": (0.013, 0.026, 0.052, 0.104, 0.208, 0.416, 0.624, 0.832, 1.04),
    "northeurope": (0.0113, 0.0227, 0.045, 0.091, 0.182, 0.364, 0.546, 0.728, 0.909),
    "norwayeast": (0.0132, 0.0264, 0.0528, 0.106, 0.211, 0.422, 0.634, 0.845, 1.056),
    "southafricanorth": (0.0139, 0.0279, 0.0557, 0.111, 0.223, 0.446, 0.669, 0.892, 1.115),
    "southeastasia": (0.0132, 0.0264, 0.0528, 0.106, 0.211, 0.422, 0.634, 0.845, 1.056),
    "southindia": (0.0145, 0.0294, 0.058, 0.118, 0.236, 0.471, 0.706, 0.941, 1.177),
    "switzerlandnorth": (0.0144, 0.0288, 0.0576, 0.115, 0.23, 0.461, 0.692, 0.922, 1.153),
    "uaenorth": (0.0125, 0.025, 0.0499, 0.0998, 0.2, 0.399, 0.599, 0.799, 0.998),
    "uksouth": (0.0118, 0.0236, 0.0472, 0.0944, 0.189, 0.378, 0.566, 0.755, 0.944),
    "ukwest": (0.0118, 0.0235, 0.047, 0.094, 0.188, 0.376, 0.564, 0.752, 0.94),
    "westeurope": (0.012, 0.024, 0.048, 0.096, 0.192, 0.384, 0.576, 0.768, 0.96),
    "westindia": (0.0147, 0.03, 0.059, 0.119, 0.238, 0.476, 0.714, 0.951, 1.189),
}
# With graphics processors, outside of the United States.
GPUS_ELSEWHERE = {"westeurope": ("_T4_v3", "s_v3", "_A100_v4"), "northeurope": ("_T4_v3",), "uksouth": ("_T4_v3",), "swedencentral": ("_A100_v4",)}


def tables():
    """(name -> shape), (market -> region -> name -> price or "-")"""
    shapes, prices = {}, {market: {region: {} for region in US + ELSEWHERE} for market in ("on-demand", "spot")}

    def put(name, shape, on_demand, spot):
        shapes[name] = shape
        for number, region in enumerate(US):
            for market, given in (("on-demand", on_demand), ("spot", spot)):
                if on_demand is None or on_demand[number] != _:
                    prices[market][region][name] = given[number] if given else _
        for region in ELSEWHERE:
            if not shape[2] or name.startswith("Standard_NC") and any(word in name for word in GPUS_ELSEWHERE.get(region, ())):
                prices["on-demand"][region][name] = prices["spot"][region][name] = _
    for pattern, (gib, sizes, on_demand, spot) in BY_VCPU.items():
        for size in sizes:
            part = lambda eight: tuple(round(one * size / 8, 6) for one in eight)
            put(pattern.format(size), (size, gib * size, 0, "-", 0), part(on_demand), part(spot))
    for pattern, (gib, sizes) in SHAPES.items():
        for size in sizes:
            put(pattern.format(size), (size, gib * size, 0, "-", 0), None, None)
    for name, (shape, on_demand, spot) in SINGLE.items():
        put(name, shape, on_demand, spot)
    add_copied(shapes, prices["on-demand"])
    return shapes, prices


def add_copied(shapes, prices):
    """What the newer copy does not know."""
    for region, eights in COPY.items():
        for pattern, eight in zip(COPIED, eights):
            for name, shape in shapes.items():
                if name == pattern.format(shape[0]) and eight != _ and prices[region].get(name, _) == _:
                    prices[region][name] = round(eight * shape[0] / 8, 6)
    for region, singles in COPY_B.items():
        for name, price in zip(COPIED_B, singles):
            if price != _ and prices[region].get(name, _) == _:
                prices[region][name] = price


def main():
    shapes, prices = tables()
    lines = ["radl-catalog 2", "cloud azure", "currency USD", "source shapes: Azure documentation, sizes for virtual machines",
             f"source prices {AS_OF}: a copy of Azure's retail prices of about that day; sizes of a D family by their vCPUs",
             f"source on-demand {COPY_OF}: the copy in Apache Libcloud, of about that day (regions outside of the United States; there E, F, B and others)", "", "[types]"]
    for name, (cpus, gib, count, model, memory) in sorted(shapes.items()):
        lines.append(f"{name} {cpus} {round(gib * 1024)} {count} {model} {memory} 0/0 - x86_64 0")
    for market, regions in prices.items():
        for region, known in sorted(regions.items()):
            if market == "spot" and all(price == _ for price in known.values()):
                continue
            lines += ["", f"[{market} {region} {AS_OF if region in US else COPY_OF}]"]
            lines += [f"- {name} {price if price == _ else format(price, '.6g')}" for name, price in sorted(known.items())]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
